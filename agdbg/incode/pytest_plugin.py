"""The pytest plugin: ``pytest --agdbg`` records each test and says under one that fails what agdbg has found.

Without the option nothing of this is active. Each test has a trace of its own where temporary files go; that of a test which
passes is removed.
"""

import re
import shutil
import tempfile
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agdbg.tell import tell

if TYPE_CHECKING:
    from agdbg.incode.findings import Findings
    from agdbg.incode.recording import Recorded

_TITLE = "agdbg"
#: What an assertion about numbers that are not finite speaks of.
_NOT_FINITE = re.compile(r"\b(isfinite|isnan|isinf|nan|inf)\b", re.IGNORECASE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("agdbg", "autograd debugging")
    group.addoption("--agdbg", action="store_true", help="record each test, and explain under those that fail")
    group.addoption(
        "--agdbg-also",
        action="append",
        default=[],
        metavar="EXTRAS",
        help="with --agdbg: record shapes, values, checksums as well, or all",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin, if it is asked for.

    Raises:
        pytest.UsageError: there is no such extra.
    """
    if not config.getoption("agdbg"):
        return
    from agdbg.incode.recording import extras

    try:
        also = extras(config.getoption("agdbg_also"))
    except ValueError as error:
        raise pytest.UsageError(f"--agdbg-also: {error}") from None
    config.pluginmanager.register(TestRecorder(also), "agdbg-recorder")


class TestRecorder:
    """Records tests, one after the other.

    Args:
        also: what is recorded besides.
    """

    __test__ = False

    def __init__(self, also: frozenset[str]) -> None:
        self._also = also
        self._recorded: Recorded | None = None
        self._failed = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Record from before a test is set up until it is torn down."""
        from agdbg.incode.recording import record

        directory = Path(tempfile.mkdtemp(prefix="agdbg-pytest-"))
        self._failed = False
        recorded = record(directory / "trace", also=self._also)
        with ExitStack() as stack:
            try:
                self._recorded = stack.enter_context(recorded)
            except Exception as error:
                tell(f"{item.nodeid} is not recorded: {type(error).__name__}: {error}")
            try:
                return (yield)
            finally:
                stack.close()
                self._recorded = None
                if not (self._failed and recorded.path.exists()):
                    shutil.rmtree(directory, ignore_errors=True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add the section to the report of a test that fails; a mistake of agdbg does not fail a test."""
        report = yield
        if report.failed and self._recorded is not None and call.excinfo is not None:
            self._failed = True
            try:
                text = _section(self._recorded, call.excinfo.value, self._also)
            except Exception as error:
                text = f"agdbg cannot explain this: {type(error).__name__}: {error}"
            report.sections.append((_TITLE, text))
        return report


def _section(recorded: "Recorded", error: BaseException, also: frozenset[str]) -> str:
    from agdbg.incode.explaining import explain

    found: Findings = explain(error)
    if found:
        text = str(found)
    else:
        rest = recorded.findings(lints=True)
        about = "found in this test, whether it is why the test fails or not:\n"
        text = about + str(rest) if rest else str(rest)
        if "values" not in also and isinstance(error, AssertionError) and _NOT_FINITE.search(str(error)):
            text += (
                "\nhint: with --agdbg-also values the first NaN or infinity is looked for, in values and in gradients"
            )
    return f"{text}\ntrace: {recorded.path}" if recorded.path.exists() else text
