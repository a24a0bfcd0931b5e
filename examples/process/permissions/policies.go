// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"bytes"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Policies returns policies and their bindings as YAML.
func Policies(policies []admissionregistrationv1.ValidatingAdmissionPolicy, bindings []admissionregistrationv1.ValidatingAdmissionPolicyBinding) ([]byte, error) {
	var objects []any
	for i := range policies {
		objects = append(objects, &policies[i])
	}
	for i := range bindings {
		objects = append(objects, &bindings[i])
	}
	var manifest bytes.Buffer
	for _, object := range objects {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return nil, err
		}
		delete(fields, "status")
		document, err := yaml.Marshal(fields)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&manifest, "---\n%s", document)
	}
	return manifest.Bytes(), nil
}
