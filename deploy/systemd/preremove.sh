#!/bin/sh
# Stop the server when the package is removed, not when another version replaces it.
set -e
case "$1" in
upgrade | 1) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	systemctl disable --now sluice.service sluice.socket
fi
