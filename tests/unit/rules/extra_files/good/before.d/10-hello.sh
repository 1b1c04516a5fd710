#!/bin/bash
set -euo pipefail
# not: aws configure
echo hello
