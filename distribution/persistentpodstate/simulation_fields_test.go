// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
)

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.PersistentPodState]{
		Create:    func(s *v1alpha1.PersistentPodState) field.ErrorList { return podstate.ValidateCreate(s, nil) },
		Update:    func(s, old *v1alpha1.PersistentPodState) field.ErrorList { return podstate.ValidateUpdate(s, old, nil) },
		Immutable: map[string]string{"targetRef": `{"targetRef":{"name":"other"}}`},
	}, simulated(&bug{}))
}
