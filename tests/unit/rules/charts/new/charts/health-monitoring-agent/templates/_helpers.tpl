{{- define "tag" -}}
{{ .Values.imageTag | default "1.0.1892.0_1.0.424.0" }}
{{- end }}
