// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"bytes"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Objects returns what is installed for the program before it runs: CRDs, the ServiceAccount with its roles, and policies. The caller can
// apply them in this order. The namespace and the Deployment are the caller's.
//
// The webhook configurations are not among them: RunWebhooks registers them when the program answers. Until then the API server would refuse
// what it could not ask about. See Configurations.
func (s *Set) Objects() ([]*unstructured.Unstructured, error) {
	if s.options.Name == "" || s.options.Namespace == "" {
		return nil, errors.New("manager: Options.Name and Options.Namespace are those of the ServiceAccount: both are required for objects")
	}
	var objects []runtime.Object
	for _, definition := range s.CRDs() {
		objects = append(objects, definition)
	}
	objects = append(objects, RBAC(s.options.Name, s.options.Namespace, s.Permissions())...)
	policies, bindings := s.Policies()
	for i := range policies {
		objects = append(objects, &policies[i])
	}
	for i := range bindings {
		objects = append(objects, &bindings[i])
	}
	return Unstructured(objects...)
}

// Unstructured returns objects by their fields, without a status. They need their kind and apiVersion.
func Unstructured[O runtime.Object](objects ...O) (all []*unstructured.Unstructured, _ error) {
	for _, object := range objects {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return nil, err
		}
		delete(fields, "status")
		all = append(all, &unstructured.Unstructured{Object: fields})
	}
	return all, nil
}

// YAML writes objects down, a document for each, without a status.
func YAML[O runtime.Object](objects ...O) ([]byte, error) {
	all, err := Unstructured(objects...)
	if err != nil {
		return nil, err
	}
	var manifest bytes.Buffer
	for _, object := range all {
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&manifest, "---\n%s", document)
	}
	return manifest.Bytes(), nil
}
