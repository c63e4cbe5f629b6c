"""The tests of what the engine means, once more with every tensor on the strict device: see ``on_device.py``."""

import ast
import os
import re
from pathlib import Path

import pytest
from agdbg_tests_warm_pytest import WarmPytest

import agdbg_engine as ag

HERE = Path(__file__).parent
GROUPS = {
    "backward": (
        "autograd_accumulation autograd_cases autograd_corners autograd_grad autograd_hooks autograd_inplace autograd_items autograd_modes "
        "autograd_order autograd_saved autograd_views backward_callbacks backward_inputs backward_validation anomaly"
    ),
    "threads": "autograd_threads backward_reentrant",
    "programs": "differential_programs",
    "forward": "forward_levels forward_nested forward_views func_transforms func_overloads func_writes inference_mode higher_faults",
    "functions": (
        "function_basic function_errors function_forward function_higher function_marks function_names function_saved function_views checkpoint zero_second_derivative"
    ),
    "hooks": "hooks_faults hooks_module hooks_multi hooks_tensor interventions journal journal_nested",
    "saved": "saved_faults saved_hooks saved_mutation saved_raw saved_results",
    "views": "views_creation views_faults inplace_out rare_writes assigned_items resized_views",
    "steps": "optim_steps",
    "optimizers": "optim_rules optim_axpy optim_differentiable optim_lbfgs optim_factored lr_scheduler",
    "modules": "nn nn_containers nn_module_rules",
    "layers": "nn_modules",
    "parametrized": "nn_parametrize nn_prune nn_utils nn_lazy nn_orthogonal",
    "random": "random_dags",
    "tensors": "variable_grad autograd_names functional functional_call func_captured func_refused func_reshaped layouts node_call numbers_in_graphs names_of_nodes",
    "events": "module_events module_versions op_failed function_memory function_events",
    "more hooks": "hooked_norms hooks_journal hooks_nowhere hooks_random hooks_of_roots hooks_in_transforms",
    "mistakes": "mistakes wrong_arguments",
    "classes": "subclass_faults subclass_torch complex_views packed_sequences",
    "tangents": "forward_refused forward_saved tangent_writes",
    "told": "autograd_events bases_reshaped graph_utilities variable_data variable_state watching read_once",
    "gradcheck": "gradcheck forward_expanded",
    "ops": "ops_conventions ops_dtypes ops_refused transposes complex_ops",
}
"""Files, without ``test_`` and ``.py``, that one process runs."""
_OPS = "every op of PyTorch's samples runs on a device in `tests/ops/op_device.py`"
_HOST = "it is about the host: processes, files, NumPy's arrays, texts, times"
_LONG = "random programs or long chains, which take minutes there; the same ops and writes run there in other files"
NOT_THERE = {
    _OPS: (
        "edge_values fragments_losses fragments_modules fragments_tensors ops_errors ops_large ops_public ops_saved ops_table creation "
        "differences forward_rows"
    ),
    _HOST: (
        "beside_pytorch beside_pytorch_modules checkpoint_report collector cuda_backend cupy_check data docs_concepts engine_import_hygiene events_of_concepts events_of_variants examples_real fork gpu_stand_in "
        "hook_facts host_memory missing_names names_of_scripts numpy_interop printing saved_strict saved_states self_overlap shared_memory sites thread_stress "
        "variable_copying wrong_classes wrong_methods"
    ),
    _LONG: "autograd_memory autograd_paths autograd_random deep_graphs forward_programs forward_random func_random leaks views_random out_arguments",
}
"""Files that do not run there, by the reason; those that know of devices by themselves (`tests/gpu/test_suites.py`) aside."""


@pytest.fixture(scope="module")
def pytest_with():
    """Runs pytest with options where every tensor is on the strict device: the exit status, and what it said."""
    runs = WarmPytest({**os.environ, "AGDBG_TEST_DEFAULT": "strict"}, HERE.parents[1])
    yield lambda *options: runs.run(["-q", "--no-header", "-n", "0", "-p", "no:cacheprovider", *options], timeout=400)
    runs.close()


@pytest.mark.parametrize("group", GROUPS)
def test_on_the_strict_device(pytest_with, group):
    files = [str(HERE / f"test_{name}.py") for name in GROUPS[group].split()]
    status, said = pytest_with("--tb=short", *files)
    assert status == 0, said[-12_000:]
    assert int(re.search(r"(\d+) passed", said)[1]) >= (5 if group == "random" else 30)


def names_in(table):
    """The keys of a table of ``on_device.py``, which is not imported here: that has consequences."""
    tree = ast.parse((HERE / "on_device.py").read_text())
    found = next(n.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == table)
    alike = (
        value.args[0].elts for key, value in zip(found.keys, found.values, strict=True) if key is None
    )  # dict.fromkeys
    return [key.value for keys in ([k for k in found.keys if k is not None], *alike) for key in keys]


def test_what_may_read_is_there():
    for name in names_in("READS"):
        file, function = name.split()
        tree = ast.parse((Path(ag.__file__).parent / file).read_text())
        assert function in {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}, name


def test_what_is_left_out_is_there(pytest_with):
    files = [str(HERE / f"test_{name}.py") for names in GROUPS.values() for name in names.split()]
    status, said = pytest_with("--collect-only", *files)
    assert status == 0, said[-2000:]
    missing = [name for name in names_in("LEFT_OUT") if name not in said]
    assert not missing


def test_every_file_is_there_or_is_said_not_to_be():
    inside, outside = (" ".join(table.values()).split() for table in (GROUPS, NOT_THERE))
    files = {path.stem.removeprefix("test_") for path in HERE.glob("test_*.py")}
    knows = {n for n in files if "device" in n or "agdbg_tests_strict_device" in (HERE / f"test_{n}.py").read_text()}
    assert len({*inside, *outside}) == len([*inside, *outside])
    assert {*inside, *outside} - files == set()
    assert files - {*inside, *outside} - knows == set()
