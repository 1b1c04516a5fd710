#!/bin/bash
# Becomes the init of one host: started in new net, uts, mount, ipc, pid and cgroup namespaces of its own.
# Environment: HOST, ADDRESSES (the first is the one that it speaks with), LINK, ROOM (pid), FOLDER (of the room),
# LOWER (layers of its root, top first), DISK (where what it writes goes).
set -euo pipefail
hostname "$HOST"
mount --make-rprivate /

switch=/proc/$ROOM/ns/net
# an interface keeps its address over a reboot, so that nobody speaks to a former one
IFS=. read -ra parts <<<"${ADDRESSES%% *}"
hardware=$(printf '02:00:%02x:%02x:%02x:%02x' "${parts[@]}")
ip link add eth0 address "$hardware" type veth peer name "$LINK" netns "$switch"
nsenter --net="$switch" ip link set "$LINK" master br0 up
ip link set lo up
ip link set eth0 up
for address in $ADDRESSES; do ip addr add "$address/32" dev eth0; done
# no gateway: every address, those of the service too, answers on the switch
ip route add default dev eth0 src "${ADDRESSES%% *}"

mount -t overlay -o "lowerdir=$LOWER,upperdir=$DISK/upper,workdir=$DISK/work" overlay "$DISK/root"
root=$DISK/root
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
while read -r name major minor; do
    mknod -m 666 "$root/dev/$name" c "$major" "$minor"
done <<'DEVICES'
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
fuse 10 229
autofs 10 235
DEVICES
mkdir "$root/dev/pts" "$root/dev/shm" "$root/dev/mqueue"
mount -t devpts -o newinstance,ptmxmode=666,gid=5,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for number in 0:stdin 1:stdout 2:stderr; do ln -s "fd/${number%:*}" "$root/dev/${number#*:}"; done
for name in run tmp dev/shm; do mount -t tmpfs -o mode=1777 tmpfs "$root/$name"; done
chmod 755 "$root/run"
mkdir -p "$root/run/lock"
mkdir -p "$root/.sandbox"
mount --bind "$FOLDER/shared" "$root/.sandbox"

echo "$HOST" >"$root/etc/hostname"
printf '127.0.0.1 localhost\n%s %s\n' "${ADDRESSES%% *}" "$HOST" >"$root/etc/hosts"
printf 'nameserver 169.254.169.253\noptions timeout:1 attempts:2\n' >"$root/etc/resolv.conf"
[ -s "$root/etc/machine-id" ] || tr -d - </proc/sys/kernel/random/uuid >"$root/etc/machine-id"
# the kernel's settings are the machine's, but for the network's, which are this host's own
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,ro,bind "$root/proc/sys"
mount --bind /proc/sys/net "$root/proc/sys/net" 2>/dev/null || true

cd "$root"
mkdir -p mnt
pivot_root . mnt
umount -l /mnt
exec env -i container=hyperpod-cdk PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --log-target=journal systemd.unified_cgroup_hierarchy=1
