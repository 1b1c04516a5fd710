{{- define "tag" -}}
{{ .Values.imageTag | default "1.0.935.0_1.0.282.0" }}
{{- end }}
