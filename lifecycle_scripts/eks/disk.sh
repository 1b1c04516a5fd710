#!/bin/bash
# containerd's images and the kubelet's files on a disk of their own: the root volume is too small for them.
#
# They are bind-mounted from it, as the AMI's own setup-local-disks does it with instance store, and no file of
# containerd or the kubelet is changed: the image alone knows the runtimes of its instance types.

readonly NAMES=(containerd kubelet)
readonly POLL_SECONDS=2
readonly FOLDER=hyperpod-cdk

use_disk() {
    local name missing=()
    if [[ "$DISK" == none ]]; then
        say "disk: none is asked for"
        return
    fi
    if ! wait_for_disk; then
        [[ "$DISK_REQUIRED" == no ]] || give_up "nothing is mounted at $DISK after $DISK_WAIT_SECONDS s" \
            "give the instance group a secondary volume (/opt/sagemaker) or a type with instance store (/opt/dlami/nvme)"
        warn "nothing is mounted at $DISK after $DISK_WAIT_SECONDS s: images and pods' files stay on the root volume"
        return
    fi
    for name in "${NAMES[@]}"; do
        is_mounted "/var/lib/$name" || missing+=("$name")
    done
    if ((${#missing[@]} == 0)); then
        say "disk: images and pods' files have one of their own already"
    elif is_mounted_below /var/lib/kubelet || is_mounted_below /run/containerd; then
        warn "pods run here already: images and pods' files stay where they are"
    else
        move_to_disk "${missing[@]}"
    fi
}

wait_for_disk() {
    local waited
    for ((waited = 0; waited <= DISK_WAIT_SECONDS; waited += POLL_SECONDS)); do
        is_mounted "$DISK" && return 0
        sleep "$POLL_SECONDS"
    done
    return 1
}

# what runs is stopped meanwhile, and started again whatever happens
move_to_disk() {
    local name stopped=()
    for name in kubelet containerd; do
        if systemctl is-active --quiet "$name"; then
            stopped=("$name" "${stopped[@]}")
            if ! systemctl stop "$name"; then
                warn "$name does not stop: images and pods' files stay where they are"
                set --
                break
            fi
        fi
    done
    for name in "$@"; do
        if copy_to_disk "$name" && mount_from_disk "$name"; then
            say "disk: /var/lib/$name lies on $DISK"
        else
            warn "/var/lib/$name stays on the root volume: the lines above say why"
            undo "$name"
        fi
    done
    for name in "${stopped[@]}"; do
        start_again "$name"
    done
}

start_again() {
    systemctl start "$1" && return
    warn "$1 does not start with its files on $DISK: they go back to the root volume"
    undo "$1"
    systemctl start "$1" || give_up "$1 does not start" "journalctl -u $1 on the node says why"
}

# What lies there is of an older root volume, whose containerd may be another (failure mode 95 of Amazon Linux 2).
copy_to_disk() {
    local from="$ROOT/var/lib/$1" to="$ROOT$DISK/$FOLDER/$1"
    rm -rf "$to" "$to.new" &&
        mkdir -p "$from" "$to.new" &&
        cp -a "$from/." "$to.new/" &&
        mv "$to.new" "$to"
}

# without the condition systemd would make an empty folder and mount that, if the disk were missing at a boot
mount_from_disk() {
    local unit="var-lib-$1.mount" units="$ROOT/etc/systemd/system"
    mkdir -p "$units" &&
        cat >"$units/$unit" <<UNIT &&
[Unit]
Description=/var/lib/$1 on the disk at $DISK
RequiresMountsFor=$DISK
ConditionPathIsMountPoint=$DISK
Before=containerd.service kubelet.service

[Mount]
What=$DISK/$FOLDER/$1
Where=/var/lib/$1
Type=none
Options=bind

[Install]
WantedBy=multi-user.target
UNIT
        systemctl daemon-reload &&
        systemctl enable --now "$unit" &&
        is_mounted "/var/lib/$1"
}

undo() {
    local unit="var-lib-$1.mount"
    if [[ -e "$ROOT/etc/systemd/system/$unit" ]]; then
        systemctl disable --now "$unit" || true
        rm -f "$ROOT/etc/systemd/system/$unit"
    fi
    is_mounted "/var/lib/$1" || rm -rf "$ROOT${DISK:?}/$FOLDER/$1" "$ROOT$DISK/$FOLDER/$1.new" || true
}
