"""How fuel burns: the numbers of a fire. A description only; `gpufluid.numerics.fire` runs it.

With the burn rate b (burnt per second), which is k (T - ignition) while there is fuel and T is above the
ignition temperature, else 0:

    dT/dt = heat_per_burn b,   dfuel/dt = -fuel_per_burn b,   ddensity/dt = smoke_per_burn b

so T - ignition grows exponentially until the fuel is gone. Over dt seconds

    burnt = min(fuel / fuel_per_burn, (exp(heat_per_burn k dt) - 1) / heat_per_burn * (T - ignition))

which is exact: two halves of a step burn what the whole one does. Hot gas then loses heat by radiation, with
the fourth power of its temperature above ambient, as in Nguyen, Fedkiw & Jensen, Physically based modeling
and animation of fire (2002):

    dT/dt = -radiation (T - ambient)^4,   so   T - ambient becomes ((T - ambient)^-3 + 3 radiation dt)^(-1/3)

which is exact too. A divergence where gas burns is how Feldman, O'Brien & Arikan, Animating
suspended particle explosions (2003), let it expand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpufluid.common import rules
from gpufluid.common.errors import named
from gpufluid.common.vectors import Real

MOST_GROWTH = 1e18  # s: burns all fuel in any step, and its product with a temperature is no infinity
LARGEST_EXPONENT = 80.0


@named
@dataclass(frozen=True)
class Combustion(rules.Ruled):
    """How fuel burns: above a temperature it turns into heat, smoke and volume.

    ignition_temperature: below it nothing burns. burn_per_temperature: k, how fast it burns, 1/s per unit of
        temperature above that. The defaults make a lively flame at a scale of metres, for `Settings` with
        buoyancy=2 and cooling=1.5.
    fuel_per_burn (> 0), heat_per_burn, smoke_per_burn: what one unit burnt takes of the fuel, and what it
        adds to temperature and density.
    expansion_per_burn: volume made by one unit burnt, as a share of the volume it burns in. 0 is for a fire
        that only rises, 10 and more for a blast. The default of 1 fits the buoyancy: a gas that rises with
        `buoyancy` per unit of temperature, in gravity g, is lighter by the share buoyancy / g for each unit,
        and heat_per_burn * buoyancy / g = 5 * 2 / 9.81.
    radiation: how fast hot gas radiates its heat away, 1/s at a temperature of 1 above ambient; at 2 it is 8
        times that. So gas that gets much fuel is hardly hotter than gas that gets little; it is brightest
        where it burns and darkens from there on. 0: hot gas cools by `Settings.cooling` alone. With the other
        defaults 0.1 shows, and 0.3 is much.

    Every value is finite and, except for the ignition temperature, not negative. Raises GpufluidError naming
    the number and its limit.
    """

    ignition_temperature: Real = rules.number(0.05)
    burn_per_temperature: Real = rules.number(4.0, low=0.0)
    fuel_per_burn: Real = rules.number(0.25, above=0.0)
    heat_per_burn: Real = rules.number(5.0, low=0.0)
    smoke_per_burn: Real = rules.number(0.5, low=0.0)
    expansion_per_burn: Real = rules.number(1.0, low=0.0)
    radiation: Real = rules.number(0.0, low=0.0)

    def growth(self, dt: float) -> float:
        """Return what burns in `dt` seconds per unit of temperature above ignition, where fuel is plenty.

        (exp(heat_per_burn k dt) - 1) / heat_per_burn, or k dt where burning does not heat; at most 1e18.
        """
        plain = self.burn_per_temperature * dt
        exponent = self.heat_per_burn * plain
        if exponent < 1e-300:
            return min(plain, MOST_GROWTH)
        if exponent > LARGEST_EXPONENT:
            return MOST_GROWTH
        return min(plain * (math.expm1(exponent) / exponent), MOST_GROWTH)
