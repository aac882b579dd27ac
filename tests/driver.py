"""What may be asked of the driver that the tests run on."""

from __future__ import annotations

import moderngl

from gpufluid.gl.device import is_software


def within(exact: float, gpu: float) -> float:
    """The tolerance on this driver: `exact` of a software renderer, `gpu` of a GPU.

    A GPU mostly rounds the weights of its filters to 8 bits, and rounds elsewhere where a processor rounds
    as the reference does.
    """
    return exact if is_software(moderngl.get_context()) else gpu
