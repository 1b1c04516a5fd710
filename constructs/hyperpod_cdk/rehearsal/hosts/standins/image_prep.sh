#!/bin/bash
# Makes a fresh Debian tree look like a node of HyperPod: Slurm below /opt/slurm, the service's units, user ubuntu.
set -euo pipefail
root=$1

mkdir -p "$root"/opt/slurm/{etc,bin,sbin} "$root/var/spool/slurmd" "$root/opt/ml/config" "$root/.sandbox"
rm -rf "$root/etc/slurm"
ln -s /opt/slurm/etc "$root/etc/slurm"
for name in sinfo squeue srun sbatch sacct sacctmgr scontrol salloc scancel sprio sshare sstat sreport; do
    ln -sf "/usr/bin/$name" "$root/opt/slurm/bin/"
done
for name in slurmd slurmctld slurmdbd slurmstepd; do ln -sf "/usr/sbin/$name" "$root/opt/slurm/sbin/"; done
# shellcheck disable=SC2016 # expanded at login
echo 'export PATH=/opt/slurm/bin:/opt/slurm/sbin:$PATH' >"$root/etc/profile.d/slurm.sh"

unit() { cat >"$root/etc/systemd/system/$1.service"; }
unit slurmctld <<'UNIT'
[Unit]
Description=Slurm controller daemon
After=network-online.target munge.service
[Service]
Type=simple
EnvironmentFile=-/etc/sysconfig/slurmctld
ExecStart=/opt/slurm/sbin/slurmctld -D $SLURMCTLD_OPTIONS
ExecReload=/bin/kill -HUP $MAINPID
LimitNOFILE=20000
[Install]
WantedBy=multi-user.target
UNIT
unit slurmd <<'UNIT'
[Unit]
Description=Slurm node daemon
After=munge.service network-online.target remote-fs.target
[Service]
Type=simple
EnvironmentFile=-/etc/sysconfig/slurmd
ExecStart=/opt/slurm/sbin/slurmd -D $SLURMD_OPTIONS
ExecReload=/bin/kill -HUP $MAINPID
KillMode=process
LimitNOFILE=20000
Delegate=yes
[Install]
WantedBy=multi-user.target
UNIT
unit slurmdbd <<'UNIT'
[Unit]
Description=Slurm DBD accounting daemon
After=network-online.target munge.service mariadb.service
[Service]
Type=simple
ExecStart=/opt/slurm/sbin/slurmdbd -D
LimitNOFILE=20000
[Install]
WantedBy=multi-user.target
UNIT

# the service's Slurm comes with units alone; Debian's scripts would have systemctl run update-rc.d as well
rm -f "$root"/etc/init.d/slurm*

off() { chroot "$root" systemctl disable -q "$1" 2>/dev/null || true; }
for name in mariadb slurmd slurmctld slurmdbd nfs-ganesha rpcbind cron autofs; do off "$name"; done
# what needs a kernel of its own, a console or the Internet
chroot "$root" systemctl mask -q console-getty getty@tty1 e2scrub_all.timer dpkg-db-backup.timer logrotate.timer \
    systemd-udevd systemd-timesyncd rpcbind.socket rpcbind.service run-rpc_pipefs.mount nfs-client.target \
    nfs-ganesha-lock.service sys-kernel-debug.mount dev-hugepages.mount sys-kernel-tracing.mount \
    systemd-logind.service e2scrub_reap.service fstrim.timer
# Packages of a node that must not change; empty, as this machine's kernel is not theirs.
for name in linux-image-aws lustre-client-modules-aws; do
    mkdir -p "$root/tmp/$name/DEBIAN"
    printf 'Package: %s\nVersion: 1.0\nArchitecture: all\nMaintainer: sandbox\nDescription: empty\n' "$name" \
        >"$root/tmp/$name/DEBIAN/control"
    chroot "$root" dpkg-deb --build "/tmp/$name" >/dev/null
    chroot "$root" dpkg --install "/tmp/$name.deb" >/dev/null
    rm -rf "$root/tmp/$name" "$root/tmp/$name.deb"
done
chroot "$root" useradd -m -u 1000 -s /bin/bash ubuntu
chroot "$root" install -d -o slurm -g slurm /var/log/slurm /var/spool/slurmctld
install -d -m 755 "$root/var/log/provision"
: >"$root/etc/apt/sources.list"
rm -f "$root"/etc/apt/sources.list.d/* "$root/etc/apt/apt.conf.d/99mmdebstrap"
rm -f "$root/etc/machine-id"
: >"$root/etc/machine-id"
