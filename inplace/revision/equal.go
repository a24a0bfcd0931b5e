// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"bytes"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Equal tells whether two revisions hold the same pod template. Equal bytes
// decide at once. Otherwise both are decoded, and the order of keys, the
// notation of quantities, and null against absent or empty lists and maps make
// no difference. An empty object against an absent one does.
//
// The error names the revision that cannot be read. A nil one is an error.
func Equal(a, b *appsv1.ControllerRevision) (bool, error) {
	if a == nil || b == nil {
		return false, errors.New("compare revisions: one of them is nil")
	}
	if bytes.Equal(a.Data.Raw, b.Data.Raw) && len(a.Data.Raw) > 0 {
		return true, nil
	}
	x, err := decode(a)
	if err != nil {
		return false, err
	}
	y, err := decode(b)
	if err != nil {
		return false, err
	}
	return equality.Semantic.DeepEqual(x, y), nil
}

func decode(r *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	template, err := Template(r.Data.Raw)
	if err != nil {
		return nil, fmt.Errorf("ControllerRevision %s/%s: %w", r.Namespace, r.Name, err)
	}
	return template, nil
}
