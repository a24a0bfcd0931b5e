// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/manager"
)

// Generated is what begins every file that is not written by hand.
const Generated = "# Generated from Go values by \"go run ./install/generate\" in examples. Change those.\n"

// Files returns the files of the folders kustomize and chart that hold objects, by path.
func Files(o Options) (map[string][]byte, error) {
	objects, err := New(o)
	if err != nil {
		return nil, err
	}
	templates, err := chart(o)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, file := range []struct {
		path    string
		objects []*unstructured.Unstructured
		mend    func([]byte) []byte
	}{
		{"kustomize/manager/namespaces.yaml", objects.Namespaces, nil},
		{"kustomize/manager/crds.yaml", objects.CRDs, nil},
		{"kustomize/manager/manager.yaml", objects.Manager, nil},
		{"kustomize/nodeagent/nodeagent.yaml", objects.NodeAgent, nil},
		{"chart/templates/namespaces.yaml", templates.Namespaces, toTemplate},
		{"chart/templates/crds.yaml", templates.CRDs, toTemplate},
		{"chart/templates/manager.yaml", templates.Manager, toTemplate},
		{"chart/templates/nodeagent.yaml", templates.NodeAgent, agentTemplate},
	} {
		text, err := manager.YAML(file.objects...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.path, err)
		}
		if file.mend != nil {
			text = file.mend(text)
		}
		files[file.path] = append([]byte(Generated), text...)
	}
	return files, nil
}

// KeepAnnotation has Helm never delete an object.
const KeepAnnotation, Keep = "helm.sh/resource-policy", "keep"

// values are what a user of the chart chooses, in place of words that stand in no object.
var values = []string{
	"VALUE-MANAGER-IMAGE", `"{{ .Values.manager.image }}:{{ .Values.tag | default .Chart.AppVersion }}"`,
	"VALUE-MANAGER-REPLICAS", `{{ .Values.manager.replicas }}`,
	"VALUE-NODEAGENT-IMAGE", `"{{ .Values.nodeagent.image }}:{{ .Values.tag | default .Chart.AppVersion }}"`,
}

// chart returns the objects with words for values. What holds objects of users is kept when it is no part of a release any more.
func chart(o Options) (*Objects, error) {
	o.ManagerImage, o.NodeAgentImage = values[0], values[4]
	objects, err := New(o)
	if err != nil {
		return nil, err
	}
	for _, kept := range append(objects.Namespaces, objects.CRDs...) {
		annotations := kept.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[KeepAnnotation] = Keep
		kept.SetAnnotations(annotations)
	}
	for _, object := range objects.Manager {
		if object.GetKind() == "Deployment" {
			err = unstructured.SetNestedField(object.Object, values[2], "spec", "replicas")
		}
	}
	return objects, err
}

// toTemplate returns a template that renders what a text says.
func toTemplate(text []byte) []byte {
	return []byte(strings.NewReplacer(append([]string{"{{", `{{ "{{" }}`}, values...)...).Replace(string(text)))
}

// reachable are what agents answer on: the node itself, unless the user wants the network to read their metrics. The kubelet asks the node's
// address then.
var reachable = strings.NewReplacer(
	"--health-addr=127.0.0.1:", "--health-addr={{ if not .Values.nodeagent.metrics }}127.0.0.1{{ end }}:",
	"host: 127.0.0.1\n", "host: {{ if .Values.nodeagent.metrics }}\"\"{{ else }}127.0.0.1{{ end }}\n",
)

// agentTemplate is a template that renders nothing if no agents are wanted.
func agentTemplate(text []byte) []byte {
	return fmt.Appendf(nil, "{{- if .Values.nodeagent.enabled }}\n%s{{- end }}\n", reachable.Replace(string(toTemplate(text))))
}
