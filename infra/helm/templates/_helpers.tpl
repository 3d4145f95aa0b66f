{{/* Name of everything in the release: that of the release, with the chart's name unless it has it. */}}
{{- define "svc.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of an app. Takes { root, app }. */}}
{{- define "svc.selector" -}}
app.kubernetes.io/name: {{ .app }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end -}}

{{/* Labels of every object. Takes { root, app }. */}}
{{- define "svc.labels" -}}
{{ include "svc.selector" . }}
app.kubernetes.io/part-of: svc
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* Settings that are read from the Secret, with their keys in it. Takes { root, app }; `app` is init for the Job. */}}
{{- define "svc.secretKeys" -}}
{{- $keys := dict -}}
{{- range $setting, $key := .root.Values.secretKeys -}}
{{- if $key }}{{ $_ := set $keys $setting $key }}{{ end -}}
{{- end -}}
{{- if has .app (list "api" "init") }}{{ $_ := set $keys "SVC_ADMIN_KEY" .root.Values.adminKey }}{{ end -}}
{{- toYaml $keys -}}
{{- end -}}

{{/* What the containers of all apps and of the Job have in common. Takes { root, app }. */}}
{{- define "svc.container" -}}
image: {{ printf "%s:%s" .root.Values.image.repository (.root.Values.image.tag | default .root.Chart.AppVersion) | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
env:
  - name: SVC_BIND_HOST
    value: "0.0.0.0"
  - name: SVC_METRICS_PORT
    value: "9464"
  {{- $urls := list }}
  {{- range $app, $host := .root.Values.hosts }}
  {{- if $host }}{{ $urls = append $urls (printf "https://%s" $host) }}{{ end }}
  {{- end }}
  - name: SVC_PUBLIC_URLS
    value: {{ join "," $urls | quote }}
  {{- range $setting, $app := dict "SVC_CONSOLE_URL" "console" "SVC_WIDGET_URL" "widget" }}
  {{- $host := get $.root.Values.hosts $app }}
  {{- if and $host (not (hasKey $.root.Values.settings $setting)) }}
  - name: {{ $setting }}
    value: {{ printf "https://%s" $host | quote }}
  {{- end }}
  {{- end }}
  {{- range $name, $value := .root.Values.settings }}
  - name: {{ $name }}
    value: {{ $value | toString | quote }}
  {{- end }}
  {{- range $setting, $key := include "svc.secretKeys" . | fromYaml }}
  - name: {{ $setting }}_FILE
    value: /run/secrets/svc/{{ $key }}
  {{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: ["ALL"]
volumeMounts:
  - name: secrets
    mountPath: /run/secrets/svc
    readOnly: true
  - name: tmp
    mountPath: /tmp
{{- end -}}

{{/* What the pods of all apps and of the Job have in common. Takes { root, app }. */}}
{{- define "svc.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: secrets
    secret:
      secretName: {{ required "existingSecret is required: the name of a Secret with the keys of secretKeys" .root.Values.existingSecret }}
      items:
        {{- range $setting, $key := include "svc.secretKeys" . | fromYaml }}
        - key: {{ $key }}
          path: {{ $key }}
        {{- end }}
  - name: tmp
    emptyDir: {}
{{- end -}}
