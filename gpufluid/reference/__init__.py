"""Every kernel in NumPy, float64: what the GLSL is held to, and what the NumPy backend runs.

A function has the name, the fields and the parameters of its kernel and returns the values written.
Fields are arrays [z, y, x, c]: cells [nz, ny, nx, 4]; faces [nz + 1, ny + 1, nx + 1, 4] (one slice in
2D), component i on the low face along axis i; packed [nz, ny, nx, 1]. Places are in cells from the low
corner of the box. The numbers come from the papers named in the GLSL files.
"""

from __future__ import annotations

from gpufluid.reference.advection import (
    advect_scalars,
    advect_velocity,
    combine_velocities,
    compensate_scalars,
    compensate_velocity,
    correct_scalars,
    correct_velocity,
    finish_scalars,
    finish_velocity,
    predict_velocity,
    save_scalars,
    save_velocity,
)
from gpufluid.reference.arrays import center_velocity
from gpufluid.reference.coarse_velocity import (
    face_slopes,
    prolong_pressure,
    prolong_velocity,
    restrict_faces,
    restrict_flame,
    restrict_marks,
    restrict_pressure,
    restrict_scalars,
    restrict_solids,
    restrict_velocity,
)
from gpufluid.reference.diffusion import diffuse_scalars, diffuse_velocity, diffuse_warmed
from gpufluid.reference.forces import (
    buoyancy,
    confine,
    confinement,
    force_expression,
    force_field,
    push,
    turbulence,
    vorticity,
)
from gpufluid.reference.fourier import fft_divide, fft_lines, fft_load, fft_rows, fft_store
from gpufluid.reference.multigrid import (
    coarse_weights,
    half,
    half_shape,
    halve,
    join_cells,
    join_halves,
    prolong,
    prolong_half,
    relax_half,
    restrict,
    restrict_half,
    sum_halves,
)
from gpufluid.reference.pressure import (
    apply_inverse,
    divergence,
    expand,
    first_sweep,
    jacobi,
    jacobi_eighths,
    jacobi_four,
    jacobi_two,
    join_eighths,
    pressure_operator,
    red_black,
    residual,
    solve_coarsest,
    split_eighths,
    subtract_gradient,
)
from gpufluid.reference.reductions import (
    add_scaled,
    balance,
    dot_rows,
    largest_of_blocks,
    largest_speed,
    max_speed,
    start_rows,
    sum_slices,
    sum_whole,
    weaken,
)
from gpufluid.reference.sampling import (
    bounded_component,
    cell_bounds,
    clipped,
    cubic_cells,
    cubic_component,
    face_velocity,
    monotone_cubic,
    sample_cells,
    sample_component,
    sample_scalars,
    sample_velocity,
    trace,
)
from gpufluid.reference.scrolling import scroll_flame, scroll_pressure, scroll_scalars, scroll_velocity
from gpufluid.reference.solids import (
    add_drift,
    add_obstacle,
    clear_colors,
    cover_scalars,
    heat_fluid,
    mark_obstacle,
    solid_normals,
    uncover_scalars,
)
from gpufluid.reference.sources import (
    burn,
    emit_mask,
    emit_mask_velocity,
    emit_scalars,
    emit_velocity,
    ignite,
)
from gpufluid.reference.transport import most_asked, transport_scalars
from gpufluid.reference.walls import (
    close_faces,
    closed_faces,
    constrain,
    find_solid,
    let_slip,
    open_neighbours,
)
