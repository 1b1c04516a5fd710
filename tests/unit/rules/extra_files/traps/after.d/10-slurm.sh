#!/bin/bash
set -euo pipefail
sed -i s#task/none#task/cgroup# /opt/slurm/etc/slurm.conf
echo "include /opt/slurm/etc/plugstack.conf.d/*" >> /opt/slurm/etc/plugstack.conf
systemctl restart slurmctld
aws configure set region us-west-2
apt-get -y upgrade
