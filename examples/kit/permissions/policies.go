// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/podwright/podwright/manager"
)

// Policies returns policies and their bindings as YAML.
func Policies(policies []admissionregistrationv1.ValidatingAdmissionPolicy, bindings []admissionregistrationv1.ValidatingAdmissionPolicyBinding) ([]byte, error) {
	var objects []runtime.Object
	for i := range policies {
		objects = append(objects, &policies[i])
	}
	for i := range bindings {
		objects = append(objects, &bindings[i])
	}
	return manager.YAML(objects...)
}

// Objects returns the objects of a manifest, in its order.
func Objects(manifest []byte) (objects []*unstructured.Unstructured, err error) {
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096); ; {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, fmt.Errorf("the manifest: %w", err)
		}
		if object.Object != nil {
			objects = append(objects, object)
		}
	}
}
