// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// side is one of the two that are compared.
type side struct {
	name  string
	group schema.GroupVersion
	// moves is the path of a field of the manifest on this side, if that is another one.
	moves map[string][]string
}

var (
	kubernetes = &side{name: "kubernetes", group: appsv1.SchemeGroupVersion}
	podwright  = &side{name: "podwright", group: v1beta1.SchemeGroupVersion, moves: map[string][]string{
		"minReadySeconds": {"updateStrategy", "rollingUpdate", "minReadySeconds"},
	}}
)

// manifest is the StatefulSet that every guarantee is about, as Kubernetes has it; a guarantee changes some fields of it.
const manifest = `
kind: StatefulSet
metadata:
  name: web
  labels: {team: a}
  annotations: {example.com/note: of the set}
spec:
  replicas: 3
  serviceName: peers
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web, tier: back}
      annotations: {example.com/note: of the template}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 5
      containers:
      - {name: main, image: "web:1"}
`

func (s *side) sets(namespace string) dynamic.ResourceInterface {
	return steady.Dynamic.Resource(s.group.WithResource("statefulsets")).Namespace(namespace)
}

// render returns the manifest for this side, with the changes made to it, which are YAML merge patches.
func (s *side) render(changes ...string) (*unstructured.Unstructured, error) {
	document, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		return nil, err
	}
	for _, change := range changes {
		patch, err := yaml.YAMLToJSON([]byte(change))
		if err != nil {
			return nil, err
		}
		if document, err = jsonpatch.MergePatch(document, patch); err != nil {
			return nil, err
		}
	}
	set := &unstructured.Unstructured{}
	if err := json.Unmarshal(document, &set.Object); err != nil {
		return nil, err
	}
	set.SetAPIVersion(s.group.String())
	return set, s.move(set.Object)
}

// patch returns a merge patch, written in YAML, for this side.
func (s *side) patch(change string) ([]byte, error) {
	var patch map[string]any
	if err := yaml.Unmarshal([]byte(change), &patch); err != nil {
		return nil, err
	}
	if err := s.move(patch); err != nil {
		return nil, err
	}
	return json.Marshal(patch)
}

// move puts fields of other paths on this side to these paths.
func (s *side) move(object map[string]any) error {
	spec, _, err := unstructured.NestedMap(object, "spec")
	if err != nil || spec == nil {
		return err
	}
	for from, to := range s.moves {
		value, found := spec[from]
		if !found {
			continue
		}
		delete(spec, from)
		if err := unstructured.SetNestedField(spec, value, to...); err != nil {
			return err
		}
	}
	return unstructured.SetNestedMap(object, spec, "spec")
}
