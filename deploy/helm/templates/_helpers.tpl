{{- define "imageproxyd.selector" -}}
app.kubernetes.io/name: imageproxyd
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "imageproxyd.labels" -}}
{{ include "imageproxyd.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}
