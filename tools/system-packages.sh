#!/bin/sh
# Makes sure this machine has what pip cannot install: tools/system-packages.sh [venv] [gl] [xvfb] [wayland] [qt] [vdb] [glsl]
# Where everything is there it does nothing; else it asks apt, or says in one line what to install.
set -eu
python=${PYTHON:-python3}

has() {
    case $1 in
    venv) "$python" -c 'import ensurepip, venv' 2>/dev/null ;;
    gl)
        # macOS and Windows bring OpenGL with the system or its driver.
        [ "$(uname -s)" != Linux ] ||
            "$python" -c 'import ctypes; [ctypes.CDLL(f"lib{n}.so.1") for n in ("EGL", "GL")]' 2>/dev/null
        ;;
    xvfb)
        [ "$(uname -s)" != Linux ] ||
            { command -v Xvfb && command -v xvfb-run && command -v xauth; } >/dev/null 2>&1
        ;;
    qt)
        # What Qt's windows under X need and its Python package does not bring.
        [ "$(uname -s)" != Linux ] ||
            "$python" -c 'import ctypes; [ctypes.CDLL(f"lib{n}") for n in (
                "xcb-cursor.so.0", "xcb-icccm.so.4", "xcb-image.so.0", "xcb-keysyms.so.1", "xcb-render-util.so.0",
                "xcb-randr.so.0", "xcb-shape.so.0", "xcb-xkb.so.1", "xkbcommon-x11.so.0", "dbus-1.so.3",
                "fontconfig.so.1", "glib-2.0.so.0")]' 2>/dev/null
        ;;
    wayland)
        # A compositor without a screen, and what glfw's windows on it need.
        [ "$(uname -s)" != Linux ] ||
            { command -v sway && "$python" -c 'import ctypes; [ctypes.CDLL(f"lib{n}.so.{v}") for n, v in (
                ("wayland-client", 0), ("wayland-cursor", 0), ("wayland-egl", 1), ("xkbcommon", 0))]'; } >/dev/null 2>&1
        ;;
    vdb)
        # Reads OpenVDB files back, for tests: a package of the system's own Python only.
        # It was called pyopenvdb before OpenVDB 12.
        [ "$(uname -s)" != Linux ] ||
            for module in openvdb pyopenvdb; do /usr/bin/python3 -c "import numpy, $module" 2>/dev/null && break; done
        ;;
    # Khronos' reference compiler of GLSL, to which tests hold the shaders.
    glsl) [ "$(uname -s)" != Linux ] || command -v glslangValidator >/dev/null 2>&1 ;;
    *) echo "tools/system-packages.sh: no such need: $1" >&2 && exit 2 ;;
    esac
}

packages_of() {
    case $1 in
    venv) echo python3-venv ;;
    # Mesa's drivers too, so that a machine without a GPU draws as well.
    gl) echo libegl1 libgl1 libegl-mesa0 libglx-mesa0 libgl1-mesa-dri ;;
    xvfb) echo xvfb xauth ;;
    qt)
        echo libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-randr0 \
            libxcb-shape0 libxcb-xkb1 libxkbcommon-x11-0 libdbus-1-3 libfontconfig1 libglib2.0-0
        ;;
    wayland) echo sway libwayland-client0 libwayland-cursor0 libwayland-egl1 libxkbcommon0 ;;
    vdb) echo python3-openvdb python3-numpy ;;
    glsl) echo glslang-tools ;;
    esac
}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "gpufluid needs Python 3.10 or newer as '$python' (or: make PYTHON=/path/to/python3)" >&2
    exit 1
fi

missing=
for need in "$@"; do
    # shellcheck disable=SC2046
    has "$need" || missing="$missing $(echo $(packages_of "$need"))"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "please install: macOS: brew install python; Windows: Python from python.org and the graphics driver;" \
        "a Linux without apt: its packages for$missing (Python's venv, Mesa's EGL and GL, Xvfb), then run make again" >&2
    exit 1
fi

as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "please run as root, then make again: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "installing with apt:$missing"
# A stale list of some other repository is no reason to stop: apt-get install tells whether it matters.
$as_root apt-get update -qq || true
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null

for need in "$@"; do
    if ! has "$need"; then
        echo "'$need' is still missing after apt-get install$missing; is '$python' the system's own Python?" >&2
        exit 1
    fi
done
