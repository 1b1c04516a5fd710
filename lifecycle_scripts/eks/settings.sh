#!/bin/bash
# Settings of the deployment: a file with NAME=VALUE lines beside the scripts, read and never executed.

DISK=/opt/sagemaker
DISK_REQUIRED=no
DISK_WAIT_SECONDS=60

readonly DEPLOY_AGAIN="put it right in the configuration and deploy again"

read_settings() {
    local name value
    [[ -f "$1" ]] || return 0
    while IFS='=' read -r name value || [[ -n "$name" ]]; do
        case "$name" in
        disk) DISK="$value" ;;
        disk_required) DISK_REQUIRED="$value" ;;
        disk_wait_seconds) DISK_WAIT_SECONDS="$value" ;;
        "" | "#"*) ;;
        *) warn "a setting that these scripts do not know: $name" ;;
        esac
    done <"$1"
    check_settings
}

check_settings() {
    case "$DISK" in
    none | /opt/sagemaker | /opt/dlami/nvme) ;;
    *) give_up "disk is $DISK, allowed are none, /opt/sagemaker and /opt/dlami/nvme" "$DEPLOY_AGAIN" ;;
    esac
    case "$DISK_REQUIRED" in
    yes | no) ;;
    *) give_up "disk_required is $DISK_REQUIRED, allowed are yes and no" "$DEPLOY_AGAIN" ;;
    esac
    [[ "$DISK_WAIT_SECONDS" =~ ^[0-9]{1,4}$ ]] ||
        give_up "disk_wait_seconds is $DISK_WAIT_SECONDS, allowed are 0 to 9999" "$DEPLOY_AGAIN"
}
