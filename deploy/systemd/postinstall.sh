#!/bin/sh
# The server is not started: its administrator checks /etc/sluice/sluice.yaml first. A running
# server is restarted with the new program.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart sluice.service
fi
