"""Combustion in a step: fuel that is hot enough burns, heats, smokes and swells."""

from __future__ import annotations

from gpufluid.contract.arguments import Swelling
from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import Variant
from gpufluid.description.settings import Settings


class Fire:
    """What `Settings.combustion` asks for; without it nothing is held and no pass runs.

    flame: cells, one channel: what burnt in the last substep, per second, or None. swelling: the arguments
    that the divergence takes of it, an empty dict where nothing expands.
    """

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend = backend
        self.flame: FieldStore | None = None
        self.use(settings)

    def use(self, settings: Settings) -> list[FieldStore]:
        """Go on by these settings; return what is not needed any more: without combustion the fire is out."""
        self.rules, self.ambient = settings.combustion, settings.ambient_temperature
        self.swelling: Swelling = {}
        if self.rules is None:
            idle, self.flame = self.fields, None
            return idle
        if self.flame is None:
            self.flame = self.backend.field("flame", "cell", 1, exact=True)
        if self.rules.expansion_per_burn and settings.solve_velocity:
            self.swelling = {"flame": self.flame, "expansion": self.rules.expansion_per_burn}
        return []

    @property
    def fields(self) -> list[FieldStore]:
        """What it writes."""
        return [] if self.flame is None else [self.flame]

    def burn(self, dt: float, variant: Variant, *, scalars: FieldStore) -> None:
        """Burn for `dt` seconds, then radiate: each exactly, whatever its time is split into."""
        rules, run = self.rules, self.backend.kernel
        if rules is None:
            return
        run("ignite", variant)(
            scalars=scalars,
            flame=self.flame,
            dt=dt,
            ignition=rules.ignition_temperature,
            growth=rules.growth(dt),
            fuel_per_burn=rules.fuel_per_burn,
        )
        run("burn", variant)(
            scalars=scalars,
            flame=self.flame,
            dt=dt,
            per_burn=(rules.smoke_per_burn, rules.heat_per_burn, rules.fuel_per_burn),
            radiation=rules.radiation,
            ambient=self.ambient,
        )

    def scroll(self, shift: tuple[int, int, int], variant: Variant) -> None:
        """Move what burnt with the box that has gone `shift` cells on."""
        if self.flame is not None:
            self.backend.kernel("scroll_flame", variant)(flame=self.flame, shift=shift)

    def clear(self) -> None:
        """Put the fire out: forget what burnt last."""
        if self.flame is not None:
            self.flame.fill([0.0])

    def release(self) -> None:
        """Release the field."""
        release(self.flame)
