"""An NFS 4 server for each OpenZFS file system: nfs-ganesha on a host of its own."""

import time
from pathlib import Path

from hyperpod_cdk.rehearsal.hosts.host import Host, HostError

READY_SECONDS = 20.0
CONFIGURATION = """\
NFS_CORE_PARAM {{ Protocols = 4; mount_path_pseudo = true; Enable_NLM = false; Enable_RQUOTA = false; }}
NFSV4 {{ Minor_Versions = 0,1,2; Graceless = true; Only_Numeric_Owners = true; RecoveryBackend = fs_ng; }}
EXPORT {{
    Export_Id = 1; Path = "/export"; Pseudo = "{export}"; Access_Type = RW; Squash = No_root_squash;
    SecType = sys; Protocols = 4; Transports = TCP; FSAL {{ Name = VFS; }}
}}
"""
# the folder by another name: a file system's own has a colon
START = """\
mkdir -p /export /run/ganesha /var/lib/nfs/ganesha /var/log/ganesha
mount --bind "$1" /export
exec setsid ganesha.nfsd -L /var/log/ganesha/ganesha.log -f /etc/ganesha/ganesha.conf -N NIV_EVENT
"""


def serve(host: Host, folder: Path, *, export: str) -> bool:
    """Export a folder of the sandbox from a host, and say whether this machine lets it.

    A file system without file handles, such as overlayfs, can not be exported.

    Args:
        host: it is up.
        folder: as the host sees it.
        export: what clients mount, for instance ``/fsx``.
    """
    host.path("/etc/ganesha").mkdir(exist_ok=True)
    conf = CONFIGURATION.format(export=export)
    host.path("/etc/ganesha/ganesha.conf").write_text(conf, encoding="utf-8")
    try:
        host.run("bash", "-c", START, "bash", str(folder))
    except HostError:
        return False
    listing = ("nfs-ls", f"nfs://{host.address}{export}?version=4")
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if host.run(*listing, check=False, timeout=30).exit_code == 0:
            return True
        time.sleep(0.1)
    return False
