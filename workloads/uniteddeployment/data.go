// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// RevisionData returns the data of a revision for a template. The same template always gives
// the same bytes. (UD-R1)
func RevisionData(t *v1alpha1.SubsetTemplate) ([]byte, error) {
	tree, err := treeOf(t)
	if err != nil {
		return nil, fmt.Errorf("encode the template: %w", err)
	}
	pods := podTemplate(t)
	for field, value := range tree {
		template, ok := value.(map[string]any)
		if !ok || pods == nil {
			continue
		}
		withCreationTimestamp(template)
		spec, _ := template["spec"].(map[string]any)
		if spec["template"], err = podData(pods); err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		claims, _ := spec["volumeClaimTemplates"].([]any)
		for _, claim := range claims {
			if claim, ok := claim.(map[string]any); ok {
				withCreationTimestamp(claim)
			}
		}
		if _, named := spec["serviceName"]; !named && field == "statefulSetTemplate" {
			spec["serviceName"] = ""
		}
	}
	tree["$patch"] = "replace"
	return revision.Encode(map[string]any{"spec": map[string]any{"template": tree}})
}

// withCreationTimestamp writes the zero creation time as Kubernetes 1.22 does.
func withCreationTimestamp(object map[string]any) {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		object["metadata"] = meta
	}
	if _, ok := meta["creationTimestamp"]; !ok {
		meta["creationTimestamp"] = nil
	}
}

// podData is a pod template as revisions of other workloads hold it.
func podData(template *corev1.PodTemplateSpec) (any, error) {
	data, err := revision.Data(template)
	if err != nil {
		return nil, err
	}
	var document struct {
		Spec struct {
			Template map[string]any `json:"template"`
		} `json:"spec"`
	}
	if err := utiljson.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	delete(document.Spec.Template, "$patch")
	return document.Spec.Template, nil
}

// templateOf returns the template in the data of a revision. Fields that this version does
// not know are dropped. Data that is not JSON, or holds no spec.template, is an error.
func templateOf(r *appsv1.ControllerRevision) (*v1alpha1.SubsetTemplate, error) {
	var document struct {
		Spec struct {
			Template *v1alpha1.SubsetTemplate `json:"template"`
		} `json:"spec"`
	}
	if err := utiljson.Unmarshal(r.Data.Raw, &document); err != nil {
		return nil, fmt.Errorf("ControllerRevision %s/%s: %w", r.Namespace, r.Name, err)
	}
	if document.Spec.Template == nil {
		return nil, fmt.Errorf("ControllerRevision %s/%s: %w", r.Namespace, r.Name, errors.New("its data has no spec.template"))
	}
	return document.Spec.Template, nil
}

// sameTemplate tells whether two revisions hold templates that mean the same. (UD-R3)
func sameTemplate(a, b *appsv1.ControllerRevision) bool {
	if bytes.Equal(a.Data.Raw, b.Data.Raw) {
		return true
	}
	x, err := templateOf(a)
	if err != nil {
		return false
	}
	y, err := templateOf(b)
	return err == nil && equality.Semantic.DeepEqual(x, y)
}

// treeOf is a value in the form that is sent, integers as integers.
func treeOf(v any) (tree map[string]any, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return tree, utiljson.Unmarshal(raw, &tree)
}
