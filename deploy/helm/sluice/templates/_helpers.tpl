{{- define "sluice.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "sluice.nodes" -}}
{{ include "sluice.name" . }}-nodes
{{- end }}

{{/* The addresses by which the nodes of a cluster reach each other. */}}
{{- define "sluice.peers" -}}
{{- $root := . -}}
{{- $peers := list -}}
{{- range $i := until (int .Values.replicas) -}}
{{- $peers = append $peers (printf "%s-%d.%s.%s.svc:6222" (include "sluice.name" $root) $i (include "sluice.nodes" $root) $root.Release.Namespace) -}}
{{- end -}}
{{- join "," $peers -}}
{{- end }}

{{- define "sluice.rootSecret" -}}
{{ .Values.root.existingSecret | default (printf "%s-root" (include "sluice.name" .)) }}
{{- end }}

{{- define "sluice.clusterSecret" -}}
{{ .Values.cluster.existingSecret | default (printf "%s-cluster" (include "sluice.name" .)) }}
{{- end }}

{{- define "sluice.scheme" -}}
{{ if .Values.tls.existingSecret }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{/* The URL of the place for continuous backups, or nothing. */}}
{{- define "sluice.backupTo" -}}
{{- if and .Values.backup.to .Values.backup.existingClaim }}
{{- fail "backup: use either to or existingClaim" }}
{{- end }}
{{- $to := ternary "file:///var/lib/sluice-backups" .Values.backup.to (ne .Values.backup.existingClaim "") }}
{{- $to }}
{{- end }}
