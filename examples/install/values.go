// SPDX-License-Identifier: Apache-2.0

package install

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/process/features"
)

// values are what a user of the chart chooses, in place of words that stand in no object.
var values = []string{
	"VALUE-MANAGER-IMAGE", `"{{ .Values.manager.image }}:{{ .Values.tag | default .Chart.AppVersion }}"`,
	"VALUE-MANAGER-REPLICAS", `{{ .Values.manager.replicas }}`,
	"VALUE-NODEAGENT-IMAGE", `"{{ .Values.nodeagent.image }}:{{ .Values.tag | default .Chart.AppVersion }}"`,
}

// podValues are those that both programs have, of the one that is named manager here.
var podValues = []string{
	"- VALUE-manager-ARGS", `{{- include "podwright.args" (list . "manager") | nindent 8 }}`,
	" VALUE-manager-RESOURCES", ` {{- toYaml .Values.manager.resources | nindent 10 }}`,
	"VALUE-manager-GOMEMLIMIT", `{{ .Values.manager.goMemoryLimit }}`,
	"priorityClassName: VALUE-manager-PRIORITY", `priorityClassName: {{ .Values.manager.priorityClassName | quote }}
      {{- include "podwright.pod" (list . "manager") }}`,
}

// chart returns the objects with words for values. What holds objects of users is kept when it is no part of a release any more.
func chart(o Options) (*Objects, error) {
	o.ManagerImage, o.NodeAgentImage = values[0], values[4]
	objects, err := New(o)
	if err != nil {
		return nil, err
	}
	for _, kept := range append(objects.Namespaces, objects.CRDs...) {
		keep(kept)
	}
	for _, object := range append(objects.Manager, objects.NodeAgent...) {
		switch object.GetKind() {
		case "Deployment":
			err = unstructured.SetNestedField(object.Object, values[2], "spec", "replicas")
			if err == nil {
				err = setPodValues(object, "manager")
			}
		case "DaemonSet":
			err = setPodValues(object, "nodeagent")
		}
		if err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// keep has Helm never delete an object.
func keep(object *unstructured.Unstructured) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[KeepAnnotation] = Keep
	object.SetAnnotations(annotations)
}

// sockets are pairs of a mark in an agent's pod template and what the chart has in its place. That depends on daemon.socketLocation,
// a value of OpenKruise's chart. It is the folder of the node in which the agent looks for the socket of the container runtime.
var sockets = []string{
	"- VALUE-SOCKET-", "{{- if not (include \"podwright.sockets\" .) }}\n        - ", "-SOCKET-END\n", "\n        {{- end }}\n",
	"VALUE-MOUNT-", `{{ if include "podwright.sockets" . }}/hostvarrun{{ else }}`, "-MOUNT-END", "{{ end }}",
	"VALUE-FOLDER-", `{{ with include "podwright.sockets" . }}{{ . | quote }}{{ else }}`, "-FOLDER-END", "{{ end }}",
}

// readsNodes is what an agent may do that looks for the socket: its node says which runtime it has.
var readsNodes = []byte(`{{- if include "podwright.sockets" . }}
- apiGroups:
  - ""
  resources:
  - nodes
  verbs:
  - get
{{- end }}
`)

// setSockets puts these words into the pod template of agents.
func setSockets(spec map[string]any) {
	container := spec["containers"].([]any)[0].(map[string]any)
	args, _ := container["args"].([]any)
	for i, arg := range args {
		if strings.HasPrefix(arg.(string), "--cri-endpoint=") {
			args[i] = "VALUE-SOCKET-" + arg.(string) + "-SOCKET-END"
		}
	}
	for _, item := range container["volumeMounts"].([]any) {
		if mount := item.(map[string]any); mount["name"] == runtimeVolume {
			mount["mountPath"] = "VALUE-MOUNT-" + mount["mountPath"].(string) + "-MOUNT-END"
		}
	}
	for _, item := range spec["volumes"].([]any) {
		if volume := item.(map[string]any); volume["name"] == runtimeVolume {
			folder := volume["hostPath"].(map[string]any)
			folder["path"] = "VALUE-FOLDER-" + folder["path"].(string) + "-FOLDER-END"
		}
	}
}

// setPodValues puts words for values into the pod template of a program.
func setPodValues(object *unstructured.Unstructured, program string) error {
	word := func(name string) string { return "VALUE-" + program + "-" + name }
	pod, _, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "template", "spec")
	if err != nil {
		return err
	}
	spec := pod.(map[string]any)
	spec["priorityClassName"] = word("PRIORITY")
	delete(spec, "tolerations") // a value
	if program == "nodeagent" {
		setSockets(spec)
	}
	container := spec["containers"].([]any)[0].(map[string]any)
	args, _ := container["args"].([]any)
	container["args"], container["resources"] = append(args, word("ARGS")), word("RESOURCES")
	for _, variable := range container["env"].([]any) {
		if variable := variable.(map[string]any); variable["name"] == "GOMEMLIMIT" {
			variable["value"] = word("GOMEMLIMIT")
		}
	}
	return nil
}

// reachable are what agents answer on: the node itself, unless the user wants the network to read their metrics. The kubelet asks the node's
// address then.
var reachable = []string{
	"--health-addr=127.0.0.1:", "--health-addr={{ if not .Values.nodeagent.metrics }}127.0.0.1{{ end }}:",
	"host: 127.0.0.1\n", "host: {{ if .Values.nodeagent.metrics }}\"\"{{ else }}127.0.0.1{{ end }}\n",
}

// toTemplate returns a template that renders what a text says.
func toTemplate(text []byte) []byte {
	replaced := append([]string{"{{", `{{ "{{" }}`}, values...)
	replaced = append(append(replaced, reachable...), sockets...)
	replaced = append(replaced, "value: VALUE-nodeagent-GOMEMLIMIT\n", "value: {{ .Values.nodeagent.goMemoryLimit }}\n        {{- include \"podwright.extraEnvs\" . }}\n")
	for _, program := range []string{"manager", "nodeagent"} {
		for _, word := range podValues {
			replaced = append(replaced, strings.ReplaceAll(word, "manager", program))
		}
	}
	return []byte(strings.NewReplacer(replaced...).Replace(string(text)))
}

// ifAgents is a template that renders nothing if no agents are wanted.
func ifAgents(text []byte) []byte {
	return fmt.Appendf(nil, "{{- if .Values.nodeagent.enabled }}\n%s{{- end }}\n", text)
}

// followed are the flags of the programs that ports, mounts, RBAC rules, policies or CRDs follow, and those that have values of their own.
// A chart for other values of them is generated.
var followed = map[string][]string{
	"manager": {
		"create-own-namespace", "deletion-protection-crds", "deletion-protection-label-group", "enable-leader-election", "enable-webhooks", "feature-gates",
		"health-probe-addr", "imagepulljob-refer-to-source-secrets", "install-crds", "kubeconfig", "leader-elect", "leader-election-id",
		"leader-election-namespace", "metrics-addr", "namespace", "own-namespace", "persistentpodstate-crds", "podunavailablebudget-crds", "podunavailablebudget-mirror", "print-policies",
		"print-rbac", "register-webhooks", "release", "remove-webhooks-of", "resourcedistribution-sources", "serve-v1beta1", "webhook-bind-address", "webhook-cert-dir",
		"webhook-cert-writer", "webhook-host", "webhook-port", "webhook-secret", "webhook-service",
		"workloadspread-crds",
	},
	"nodeagent": {
		"addr", "cri-endpoint", "feature-gates", "health-addr", "image-credential-provider-bin-dir", "image-credential-provider-config", "kubeconfig",
		"kubelet-pods-socket", "node-name", "plugin-bin-dir", "plugin-config-file", "print-policies", "print-rbac", "read-source-secrets", "release", "socket-file",
	},
}

// names returns what templates that are written by hand ask for.
func (o Options) names() ([]byte, error) {
	manager, err := o.managerConfig()
	if err != nil {
		return nil, err
	}
	agent, err := o.nodeAgentConfig()
	if err != nil {
		return nil, err
	}
	_, port, err := split(agent.HealthAddr)
	if err != nil {
		return nil, err
	}
	gates := map[podwright.Release]map[string]bool{}
	for _, release := range []podwright.Release{podwright.Release14, podwright.Release19} {
		gates[release] = features.Flags{Release: release}.Defaults()
	}
	text := "{{- /* " + strings.TrimSpace(strings.TrimPrefix(Generated, "# ")) + " */ -}}\n"
	for _, d := range []struct {
		name string
		is   any
	}{
		{"namespace", manager.OwnNamespace}, {"agentPort", port}, {"gates", gates}, {"followed", followed},
	} {
		value, err := json.Marshal(d.is)
		if err != nil {
			return nil, err
		}
		text += fmt.Sprintf("{{- define \"podwright.%s\" -}}\n%s\n{{- end }}\n", d.name, strings.Trim(string(value), `"`))
	}
	return []byte(text), nil
}
