{{- /* podwright.given are the feature gates that a user names, as JSON. OpenKruise's chart has them in a text, A=true,B=false. */ -}}
{{- define "podwright.given" -}}
{{- $given := .Values.featureGates -}}
{{- if kindIs "string" $given -}}
{{- $text := $given -}}
{{- $given = dict -}}
{{- range $one := compact (splitList "," (nospace $text)) -}}
{{- if not (regexMatch "^[A-Za-z0-9]+=(true|false)$" $one) -}}
{{- fail (printf "featureGates: %s: want NAME=true or NAME=false" $one) -}}
{{- end -}}
{{- $_ := set $given (first (splitList "=" $one)) (hasSuffix "=true" $one) -}}
{{- end -}}
{{- end -}}
{{- toJson $given -}}
{{- end }}

{{- /* podwright.gate is true if a feature gate is on: (list . "NAME"). */ -}}
{{- define "podwright.gate" -}}
{{- $values := (index . 0).Values -}}
{{- $given := include "podwright.given" (index . 0) | fromJson -}}
{{- $gate := index . 1 -}}
{{- if hasKey $given $gate -}}
{{- index $given $gate -}}
{{- else -}}
{{- index (include "podwright.gates" . | fromJson) (toString $values.release) $gate -}}
{{- end -}}
{{- end }}

{{- /* podwright.protection is true if there are policies that protect from deletion. The gate needs webhooks in release 1.4. */ -}}
{{- define "podwright.protection" -}}
{{- $webhooks := or (eq (toString .Values.release) "1.9") (eq (include "podwright.gate" (list . "PodWebhook")) "true") -}}
{{- and $webhooks (eq (include "podwright.gate" (list . "ResourcesDeletionProtection")) "true") -}}
{{- end }}

{{- /* podwright.args are the arguments of a program: (list . "manager"). Those that this chart cannot follow are refused. */ -}}
{{- define "podwright.args" -}}
{{- $values := (index . 0).Values -}}
{{- $program := index . 1 -}}
{{- $known := index (include "podwright.gates" . | fromJson) (toString $values.release) -}}
{{- $gates := list -}}
{{- range $gate, $on := include "podwright.given" (index . 0) | fromJson -}}
{{- if not (hasKey $known $gate) -}}
{{- fail (printf "featureGates: %s is no feature gate; name each by itself, of: %s" $gate (keys $known | sortAlpha | join ", ")) -}}
{{- end -}}
{{- $gates = append $gates (printf "%s=%t" $gate $on) -}}
{{- end -}}
- --release={{ $values.release }}
{{- if $gates }}
- --feature-gates={{ join "," $gates }}
{{- end }}
{{- include "podwright.daemon" (index . 0) }}
{{- if eq $program "manager" }}
{{- with $values.externalCerts.annotations }}
{{- $annotations := list }}
{{- range $name, $value := . }}
{{- $annotations = append $annotations (printf "%s=%s" $name $value) }}
{{- end }}
- {{ join "," $annotations | printf "--webhook-annotations=%s" | quote }}
{{- end }}
{{- end }}
{{- range $arg := (index $values $program).args }}
{{- $flag := first (splitList "=" (trimPrefix "--" $arg)) }}
{{- if has $flag (list "feature-gates" "release") }}
{{- fail (printf "%s.args: %s: this chart has the values featureGates and release for that" $program $arg) }}
{{- end }}
{{- if has $flag (index (include "podwright.followed" . | fromJson) $program) }}
{{- fail (printf "%s.args: %s: ports, RBAC rules, policies or CRDs follow this flag; make a chart with it: go run ./install/generate -folder=FOLDER -%s-flag=%s" $program $arg $program $arg) }}
{{- end }}
- {{ $arg | quote }}
{{- end }}
{{- end }}

{{- /* podwright.daemon refuses values of OpenKruise's chart for its agent that this chart cannot follow, and says what to do. */ -}}
{{- define "podwright.daemon" -}}
{{- with .Values.daemon -}}
{{- if (default dict .credentialProvider).enable -}}
{{- fail "daemon.credentialProvider: make a chart that mounts both folders of the nodes: go run ./install/generate -folder=FOLDER -nodeagent-flag=--image-credential-provider-config=FILE -nodeagent-flag=--image-credential-provider-bin-dir=FOLDER" -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* podwright.sockets is the folder of the nodes in which agents look for the socket of the container runtime, if a user names one. */ -}}
{{- define "podwright.sockets" -}}
{{- default "" (default dict .Values.daemon).socketLocation -}}
{{- end }}

{{- /* podwright.extraEnvs are variables that a user gives to agents, for proxies and the plugins of credential providers. */ -}}
{{- define "podwright.extraEnvs" -}}
{{- with (default dict .Values.daemon).extraEnvs }}
{{- range . }}
{{- if has .name (list "NODE_NAME" "GOMEMLIMIT") }}
{{- fail (printf "daemon.extraEnvs: %s: this chart sets it" .name) }}
{{- end }}
{{- end }}
{{- toYaml . | nindent 8 }}
{{- end }}
{{- end }}

{{- /* podwright.pod are fields of a pod that have no default: (list . "manager"). */ -}}
{{- define "podwright.pod" -}}
{{- $values := (index . 0).Values -}}
{{- $program := index $values (index . 1) -}}
{{- with $values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
{{- end }}
{{- with $program.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
{{- end }}
{{- with $program.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
{{- end }}
{{- with $program.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
{{- end }}
{{- end }}
