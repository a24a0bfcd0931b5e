// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/examples/kit/webhooks"
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
	stored, err := o.storedAsV1beta1(objects.CRDs)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for path, objects := range map[string][]*unstructured.Unstructured{
		"kustomize/manager/namespaces.yaml":  objects.Namespaces,
		"kustomize/manager/crds.yaml":        objects.CRDs,
		"v1beta1/crds.yaml":                  stored,
		"kustomize/manager/manager.yaml":     objects.Manager,
		"kustomize/nodeagent/nodeagent.yaml": objects.NodeAgent,
	} {
		text, err := manager.YAML(objects...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files[path] = append([]byte(Generated), text...)
	}
	return files, addTemplates(o, files)
}

// storedAsV1beta1 returns the definitions for a cluster that stores v1beta1, as OpenKruise 1.9 does.
func (o Options) storedAsV1beta1(definitions []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	config, err := o.managerConfig()
	if err != nil {
		return nil, err
	}
	return webhooks.StoredAsV1beta1(definitions, manager.Target{Namespace: config.OwnNamespace, Service: config.Webhook.Service})
}

// addTemplates adds the files of the chart that are generated.
func addTemplates(o Options, files map[string][]byte) error {
	templates, err := chart(o)
	if err != nil {
		return err
	}
	more, err := extras(o, templates)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		name    string
		objects []*unstructured.Unstructured
		wrap    func([]byte) []byte
	}{
		{"namespaces", templates.Namespaces, nil}, {"crds", templates.CRDs, nil}, {"manager", templates.Manager, nil}, {"nodeagent", templates.NodeAgent, ifAgents},
	} {
		text, err := withExtras(part.objects, more[part.name], toTemplate)
		if err != nil {
			return fmt.Errorf("template %s: %w", part.name, err)
		}
		if part.wrap != nil {
			text = part.wrap(text)
		}
		files["chart/templates/"+part.name+".yaml"] = append([]byte(Generated), text...)
	}
	files["chart/templates/_generated.tpl"], err = o.names()
	return err
}

// KeepAnnotation has Helm never delete an object.
const KeepAnnotation, Keep = "helm.sh/resource-policy", "keep"
