"""Fluids in a notebook: real kernels, one with a browser before it (played here), one that a program runs."""

from __future__ import annotations

import ast
import base64
import io
import queue
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import moderngl
import nbformat
import numpy as np
import pytest
from jupyter_client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient
from numpy.typing import NDArray
from PIL import Image
from test_docs import blocks

import gpufluid as gf
from gpufluid.app import orbit
from gpufluid.app.hands import Brush
from gpufluid.description.view import FILLED
from gpufluid.render.camera import view_of

WAIT = 60.0  # seconds, for what comes in less than one
CAMERA = ("target", "distance", "azimuth", "elevation")
PLUME = """
import gpufluid as gf
fluid = gf.Fluid(gf.Grid((16, 20, 16), 1 / 16), settings=gf.Settings(buoyancy=4.0))
fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.25, 0.5), 0.2), density=20.0, temperature=2.0))
"""


@pytest.fixture(autouse=True, scope="module")
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels keep their history and their sockets in a folder of the test's."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name)))
        yield


class Browser:
    """A frontend with a person before it: runs cells, shows a widget, sends what mouse and keys do.

    What a widget hears goes to a subshell of the kernel, as JupyterLab sends it: a thread not the cells'.
    """

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client
        asked = client.session.msg("create_subshell_request")
        client.control_channel.send(asked)
        self.subshell: str | None = client.get_control_msg(timeout=WAIT)["content"]["subshell_id"]
        self.hears = True  # whether it confirms the frames that come
        self.models: dict[str, dict[str, Any]] = {}  # state of every widget, by its comm
        self.pictures: list[NDArray[np.uint8]] = []
        self.types: list[str] = []
        self.printed = ""
        self.shown = ""  # the comm of the widget that is looked at
        self.index = 0

    def run(self, code: str, cell: str | None = None) -> dict[str, Any]:
        """Run a cell, which the frontend calls `cell`; returns its last result by types."""
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": True}
        metadata = {} if cell is None else {"cellId": cell}
        asked = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(asked)
        return self._finished(str(asked["header"]["msg_id"]))

    def _finished(self, asked: str) -> dict[str, Any]:
        """The result, by types, of a message that was sent, once the kernel is done with it."""
        result: dict[str, Any] = {}
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            message = self.take(0.5)
            if message is None or message["parent_header"].get("msg_id") != asked:
                continue
            content = message["content"]
            if message["msg_type"] == "error":
                raise AssertionError("\n".join(content["traceback"]))
            if message["msg_type"] == "execute_result":
                result = content["data"]
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                return result
        raise AssertionError("no end of what was asked")

    def value(self, code: str) -> Any:
        """What an expression is there, as it is printed."""
        return self.run(f"str({code})")["text/plain"].strip("'")

    def take(self, timeout: float) -> Any:
        """One message, followed as a browser follows it; None where there is none."""
        try:
            message = self.client.get_iopub_msg(timeout=timeout)
        except queue.Empty:
            return None
        content = message["content"]
        if message["msg_type"] == "comm_open":
            self.models[content["comm_id"]] = content["data"].get("state", {})
        elif message["msg_type"] == "comm_msg":
            data = content["data"]
            if data["method"] == "update":
                self.models.setdefault(content["comm_id"], {}).update(data["state"])
                for output in data["state"].get("outputs", ()):
                    self.printed += output.get("text", "")
            elif data["method"] == "custom" and data["content"].get("type") == "framebufferdata":
                with Image.open(io.BytesIO(message["buffers"][0])) as picture:
                    self.pictures.append(np.asarray(picture.convert("RGB")))
                self.types.append(data["content"]["mimetype"])
                self.index = data["content"]["index"]
                now = time.time()
                if not self.hears:
                    return message
                self.update(
                    _frame_feedback={
                        "index": self.index,
                        "timestamp": data["content"]["timestamp"],
                        "localtime": now,
                    }
                )
        return message

    def look_at(self, widget: dict[str, Any]) -> None:
        """Show a widget, as the frontend that gets its `widget` data does."""
        self.shown = next(
            comm
            for comm in self.models
            if comm == widget["application/vnd.jupyter.widget-view+json"]["model_id"]
        )
        self.update(_has_visible_views=True)

    def update(self, **state: Any) -> None:
        """Tell the kernel what has changed in the widget."""
        self._send({"method": "update", "state": state, "buffer_paths": []})

    def event(self, kind: str, **what: Any) -> None:
        """Send an event of mouse or keys."""
        usual = {"x": 80, "y": 45, "button": 1, "buttons": [1], "modifiers": [], "timestamp": 0}
        self._send({"method": "custom", "content": {"type": kind, **usual, **what}})

    def drag(self, dx: float, dy: float, button: int = 1) -> None:
        """Drag from the middle."""
        self.event("pointer_down", button=button)
        self.event("pointer_move", x=80 + dx, y=45 + dy)
        self.event("pointer_up")

    def _send(self, data: dict[str, Any]) -> None:
        self._tell("comm_msg", {"comm_id": self.shown, "data": data})

    def _tell(self, kind: str, content: dict[str, Any]) -> str:
        """Send a message to where a widget hears; returns its number."""
        message = self.client.session.msg(kind, content)
        if self.subshell is not None:
            message["header"]["subshell_id"] = self.subshell
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def wait_for(self, frames: int) -> list[NDArray[np.uint8]]:
        """The next so many frames."""
        have, end = len(self.pictures), time.monotonic() + WAIT
        while len(self.pictures) < have + frames:
            assert time.monotonic() < end, f"{len(self.pictures) - have} frames of {frames}; {self.printed}"
            self.take(0.5)
        return self.pictures[have:]

    def rest(self, seconds: float = 1.0) -> int:
        """How many frames come in so many seconds."""
        have, end = len(self.pictures), time.monotonic() + seconds
        while time.monotonic() < end:
            self.take(0.1)
        return len(self.pictures) - have

    def until(self, code: str, expected: str) -> None:
        """Wait until an expression there is what is expected."""
        end = time.monotonic() + WAIT
        while (found := self.value(code)) != expected:
            assert time.monotonic() < end, f"{code}: {found}; {self.printed}"
            self.take(0.05)

    def settled(self) -> NDArray[np.uint8]:
        """The picture, paused, once all that was sent has been followed and drawn."""
        self._finished(self._tell("execute_request", {"code": "", "silent": False, "store_history": False}))
        self.until("shown._rfb_draw_requested or bool(shown._rfb_lossless_draw_info)", "False")
        there = int(self.value("shown._rfb_frame_index"))
        while self.index < there:
            assert self.take(WAIT) is not None
        return self.pictures[-1]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A kernel with somebody before it, and a plume shown in it."""
    manager, client = start_new_kernel(cwd=str(tmp_path_factory.mktemp("live")))
    try:
        made = Browser(client)
        made.run(PLUME)
        made.look_at(made.run("shown = gf.show(fluid, size=(160, 90)); shown"))
        made.wait_for(1)
        yield made
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


# -- a live frame --------------------------------------------------------------------------------------------


def test_frames_arrive_and_change_as_the_fluid_is_stepped(browser: Browser) -> None:
    before = float(browser.value("fluid.time"))
    pictures = browser.wait_for(8)
    assert {picture.shape for picture in pictures} == {(90, 160, 3)}
    assert browser.types[0] == "image/jpeg"
    assert np.abs(pictures[-1].astype(float) - pictures[0]).max() > 20.0
    assert float(browser.value("fluid.time")) > before + 0.1
    with Image.open(io.BytesIO(base64.b64decode(browser.value("shown._first")))) as first:
        there = np.asarray(first.convert("RGB")).astype(float)
    assert np.abs(browser.pictures[0] - there).mean() < 1.5, "the first picture has waited for a step"


def test_frontends_without_subshells_are_heard_too(browser: Browser) -> None:
    subshell, browser.subshell = browser.subshell, None
    try:
        browser.run("shown.paused = True")
        still = browser.settled()
        browser.drag(20, 0)
        assert np.abs(browser.settled().astype(float) - still).mean() > 0.5
    finally:
        browser.subshell = subshell
        browser.run("shown.paused = False")
    browser.wait_for(3)


def test_a_page_that_is_loaded_anew_has_its_frame_again(browser: Browser) -> None:
    """The old page has taken with it the frames that were on their way to it."""
    browser.run("shown.paused = False")
    browser.hears = False
    browser.rest(0.5)
    assert browser.rest(0.5) == 0, "frames are sent to nobody"
    browser.event("close")
    browser.hears = True
    browser.event("show")
    browser.wait_for(4)


def test_space_pauses_and_the_last_picture_comes_without_loss(browser: Browser) -> None:
    browser.run("shown.paused = False")
    browser.event("key_down", key=" ")
    browser.until("shown.paused", "True")
    browser.settled()
    assert browser.types[-1] == "image/png"
    time_there = browser.value("fluid.time")
    assert browser.rest(0.5) == 0
    browser.event("key_down", key=".")
    browser.settled()
    assert float(browser.value("fluid.time")) == pytest.approx(float(time_there) + 1 / 30)
    browser.event("key_down", key=" ")
    browser.wait_for(3)
    assert float(browser.value("fluid.time")) > float(time_there) + 2 / 30


def test_drags_turn_and_move_the_view_and_the_wheel_goes_nearer(browser: Browser) -> None:
    browser.run("shown.paused = True; camera = shown.stage.scene.camera")
    still = browser.settled()
    expected = gf.Camera()
    for name in CAMERA:
        setattr(expected, name, ast.literal_eval(browser.value(f"camera.{name}")))
    orbit.rotate(expected, 30.0, -8.0, 90.0)
    browser.drag(30, -8)
    turned = browser.settled()
    orbit.pan(expected, 10.0, 5.0, 90.0)
    browser.drag(10, 5, button=2)
    browser.event("wheel", dx=0, dy=-200)
    orbit.zoom(expected, 2.0)
    moved = browser.settled()
    for name in CAMERA:
        found = ast.literal_eval(browser.value(f"camera.{name}"))
        assert found == pytest.approx(getattr(expected, name)), name
    assert np.abs(turned.astype(float) - still).mean() > 0.5
    assert np.abs(moved.astype(float) - turned).mean() > 0.5


def test_a_frame_that_is_pulled_larger_is_drawn_larger(browser: Browser) -> None:
    browser.run("shown.paused = True")
    browser.event("resize", width=200.4, height=120, ratio=1)
    assert browser.settled().shape == (120, 200, 3)
    browser.event("resize", width=160, height=90, ratio=1)
    assert browser.settled().shape == (90, 160, 3)


def test_an_error_pauses_and_is_told_and_nothing_is_computed_that_nobody_sees(browser: Browser) -> None:
    browser.run("fluid.emitters[0].density = float('nan'); shown.paused = False")
    browser.until("shown.paused", "True")
    assert "gpufluid: Emitter.density must be a finite number >= 0, got nan" in browser.printed
    browser.run("fluid.emitters[0].density = 20.0")
    browser.update(_has_visible_views=False)
    browser.run("shown.paused = False")
    before = browser.value("fluid.time")
    browser.rest(0.5)
    assert browser.value("fluid.time") == before
    browser.update(_has_visible_views=True)
    browser.wait_for(2)
    assert float(browser.value("fluid.time")) > float(before)


def test_closing_leaves_the_fluid_to_its_owner(browser: Browser) -> None:
    assert browser.value("shown.stage._released") == "False"
    browser.run("shown.paused = False; shown.close()")  # a frame is asked for, and will not come
    assert browser.value("shown.stage._released") == "True"
    browser.run("fluid.step(1 / 30)")
    assert "released" not in browser.printed


def test_a_cell_that_is_run_again_ends_its_frames_and_lets_their_fluids_go(browser: Browser) -> None:
    """Once each run left its fluid in the kernel, with its context, by its widget and by `Out`."""
    told = browser.printed
    browser.run("import gc, weakref\nmade = []")
    code = PLUME + "made.append(weakref.ref(fluid)); shown = gf.show(fluid, size=(32, 18))\nshown"
    for _ in range(3):
        browser.look_at(browser.run(code, cell="one"))
        browser.wait_for(1)
    browser.run("pair = [gf.show(fluid, size=(32, 18)) for _ in range(2)]", cell="two")
    assert browser.value("gc.collect() and [there() is not None for there in made]") == "[False, False, True]"
    assert browser.value("[frame._closed for frame in (shown, *pair)]") == "[False, False, False]"
    browser.drag(5, 5)
    browser.run("pass", cell="one")
    assert browser.value("shown._closed") == "False", "it shows none"
    browser.run("for frame in (shown, *pair): frame.close(); frame.single_step()\nfluid.release()")
    browser.drag(5, 5)
    browser.rest(0.2)
    assert browser.printed == told


def test_a_drag_in_2d_pushes_the_fluid_and_what_is_called_before_each_step_is(browser: Browser) -> None:
    browser.run("flat = gf.Fluid(gf.Grid((16, 16, 1), 1 / 16)); calls = []")
    browser.look_at(browser.run("shown = gf.show(flat, size=(160, 90), before=calls.append); shown"))
    browser.wait_for(2)
    assert browser.value("flat.diagnostics().mass") == "0.0"
    browser.event("pointer_down")
    browser.event("pointer_move", x=100, y=45)
    # a frame in between sees a hand that is in and has not moved yet
    browser.until("bool(flat.velocity.read()[..., 0].max() > 0.01)", "True")
    browser.event("pointer_up")
    browser.run("shown.paused = True")
    assert browser.value("flat.diagnostics().mass > 0.0") == "True"
    assert browser.value("{type(f) for f in calls} == {gf.Fluid}") == "True"
    assert browser.value("len(calls) == shown.stage.scene.frame") == "True"
    browser.run("flat.release()")
    for _ in range(3):  # each asks for a picture
        browser.event("pointer_move")
        browser.drag(1, 0)
        browser.rest(0.2)
    assert browser.printed.count("was released") == 1, browser.printed


def test_a_slider_is_looked_at_before_each_step(browser: Browser) -> None:
    """As the page has it; it is moved in a thread where the fluid's context is not current."""
    text = blocks("embedding.md", "python")[-1]
    assert text.startswith("heat = ipywidgets") and "display(" in text
    browser.run(PLUME + "import ipywidgets\n" + text.replace("display(", "_, shown = ("))
    browser.look_at(browser.run("shown"))
    browser.until("fluid.emitters[0].temperature", "1.0")
    moved = {"method": "update", "state": {"value": 2.5}}
    browser._tell("comm_msg", {"comm_id": browser.value("heat.model_id"), "data": moved})
    browser.until("fluid.emitters[0].temperature", "2.5")
    browser.run("shown.close(); fluid.release()")


# -- a film --------------------------------------------------------------------------------------------------


def frames_of(film: bytes) -> list[NDArray[np.uint8]]:
    """The pictures of an MP4 file."""
    with av.open(io.BytesIO(film)) as opened:
        return [frame.to_ndarray(format="rgb24") for frame in opened.decode(video=0)]


def test_a_notebook_run_by_a_program_holds_a_film(tmp_path: Path) -> None:
    show = "film = gf.show(fluid, size=(160, 90), seconds=0.4); film"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in (PLUME, show)])
    NotebookClient(notebook, timeout=WAIT, resources={"metadata": {"path": str(tmp_path)}}).execute()
    (output,) = notebook.cells[1].outputs
    assert set(output.data) == {"text/html", "image/png", "text/plain"}
    html = output.data["text/html"]
    assert html.startswith('<video width="160" height="90" style="max-width: 100%')
    film = base64.b64decode(html.partition("base64,")[2].partition('"')[0])
    pictures = frames_of(film)
    assert [picture.shape for picture in pictures] == [(90, 160, 3)] * 12  # 0.4 s of 1/30 s each
    assert np.abs(pictures[-1].astype(float) - pictures[0]).max() > 40.0
    with Image.open(io.BytesIO(base64.b64decode(output.data["image/png"]))) as still:
        assert np.abs(np.asarray(still).astype(float) - pictures[-1]).mean() < 3.0


def test_without_a_kernel_or_without_the_package_there_is_a_film(
    ctx: moderngl.Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), ctx=ctx) as fluid:
        calls: list[float] = []
        film = gf.show(
            fluid, size=(64, 36), seconds=0.1, dt=0.05, before=lambda fluid: calls.append(fluid.time)
        )
        assert calls == pytest.approx([0.0, 0.05])
        assert len(frames_of(film.save(tmp_path / "film.mp4").read_bytes())) == 2
        assert "2 frames" in repr(film)
        film.close()  # as a live frame has it
        assert film.paused
        with pytest.raises(gf.GpufluidError, match="exists already"):
            film.save(tmp_path / "film.mp4")
        with pytest.raises(gf.GpufluidError, match=r"show\(live=True\): this is no Jupyter kernel"):
            gf.show(fluid, live=True)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr("gpufluid.app.notebook._no_kernel", lambda: None)
        monkeypatch.delitem(sys.modules, "gpufluid.app.live_frame", raising=False)
        monkeypatch.setitem(sys.modules, "jupyter_rfb", None)
        assert gf.show(fluid, size=(64, 36), seconds=0.1).frames == 3
        assert 'pip install "gpufluid[jupyter]"; rendering a film of 0.1 s' in capsys.readouterr().err
        with pytest.raises(gf.MissingDependencyError, match="jupyter-rfb"):
            gf.show(fluid, live=True)


def test_a_scene_is_shown_as_it_is_and_its_film_ends_with_it(ctx: moderngl.Context) -> None:
    with gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), ctx=ctx) as fluid:
        scene = gf.Scene(fluid, frames=2)
        renderer = gf.FrameRenderer(ctx, (48, 32), background=(1.0, 0.0, 0.0))
        film = gf.show(scene, renderer=renderer)
        pictures = frames_of(film.data)
        assert [picture.shape for picture in pictures] == [(32, 48, 3)] * 2
        assert pictures[0][..., 0].mean() > 150.0 > 60.0 > pictures[0][..., 1].mean()
        assert gf.show(scene, renderer=renderer).frames == 1  # over: one picture, no step
        assert scene.frame == 2
        renderer.read()  # still its owner's
        renderer.release()


def test_what_cannot_be_shown_is_named(ctx: moderngl.Context) -> None:
    with gf.Fluid(gf.Grid((4, 4, 4), 1.0), backend="numpy") as fluid:
        with pytest.raises(gf.GpufluidError, match='backend="numpy" cannot be drawn'):
            gf.show(fluid)
        with pytest.raises(gf.GpufluidError, match="show needs a gf.Fluid or a gf.Scene, got 3"):
            gf.show(3)  # type: ignore[arg-type]
        for wrong, message in (
            ({"seconds": 0.0}, "seconds must be a finite number > 0, got 0.0"),
            ({"dt": -1.0}, "dt must be a finite number > 0, got -1.0"),
            ({"size": (0, 3)}, "the width of a picture must lie in 1 "),
            ({"camera": 3}, "camera must be a gf.Camera or None, got 3"),
            ({"before": 3}, "before must be a function of the fluid, or None, got 3"),
            ({"live": "yes"}, "live must be True, False or None, got 'yes'"),
        ):
            with pytest.raises(gf.GpufluidError, match=message):
                gf.show(fluid, **wrong)  # type: ignore[arg-type]
    fluid = gf.Fluid(gf.Grid((4, 4, 4), 1.0), ctx=ctx)
    with pytest.raises(gf.GpufluidError, match=r"renderer must be a gf\.FrameRenderer in the GL context"):
        gf.show(fluid, renderer=3)  # type: ignore[arg-type]
    fluid.release()
    with pytest.raises(gf.GpufluidError, match="was released"):
        gf.show(fluid)


# -- what both are made of -----------------------------------------------------------------------------------


@pytest.mark.parametrize("aspect", [16 / 9, 0.5])
@pytest.mark.parametrize("view", [(25.0, 12.0), (0.0, 0.0), (-140.0, -60.0)])
def test_a_camera_sees_the_whole_box_and_no_more(view: tuple[float, float], aspect: float) -> None:
    camera = gf.Camera(target=(9.0, 9.0, 9.0), distance=7.0, azimuth=view[0], elevation=view[1])
    low, high = np.array([-1.0, 0.0, 2.0]), np.array([0.5, 2.5, 2.8])
    camera.frame(low.tolist(), high.tolist(), aspect)
    corners = np.array([[x, y, z, 1.0] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    corners[:, :3] = low + corners[:, :3] * (high - low)
    clip = corners @ view_of(camera, aspect).clip.T
    assert (clip[:, 3] > 0.0).all()
    assert np.abs(clip[:, :2] / clip[:, 3:]).max() == pytest.approx(FILLED, abs=1e-5)


def test_only_a_left_drag_reaches_into_the_fluid(ctx: moderngl.Context) -> None:
    from gpufluid.app.hands import grasp
    from gpufluid.app.notebook_stage import NotebookStage

    with gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), ctx=ctx) as fluid:
        stage = NotebookStage(gf.Scene(fluid, hand=gf.Hand()), None, (64, 36), None)
        stage.pointer = (32.0, 18.0)
        assert isinstance(grasp(stage, left=True, alt=False), Brush)
        assert not isinstance(grasp(stage, left=True, alt=True), Brush)
        assert not isinstance(grasp(stage, left=False, alt=False), Brush)
        stage.release()
        stage.release()
