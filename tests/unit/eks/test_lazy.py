"""Who runs Slurm pays nothing for Amazon EKS (field report 131)."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SLURM = """
import os, runpy, sys
os.environ["HYPERPOD_CONFIG"] = "clusters/slurm-minimal.yaml"
os.environ["CDK_OUTDIR"] = sys.argv[1]
runpy.run_path("app.py", run_name="__main__")
LIGHT = {"hyperpod_cdk.eks", "hyperpod_cdk.eks.interface"}
loaded = [name for name in sys.modules if name.startswith(("hyperpod_cdk.eks", "aws_cdk.aws_eks"))]
loaded = [name for name in loaded if name not in LIGHT] + [name for name in sys.modules if "kubectl" in name]
sys.exit(f"loaded: {loaded}" if loaded else 0)
"""


def test_131_a_slurm_cluster_loads_no_module_of_eks(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", SLURM, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert list(tmp_path.glob("*.template.json"))
