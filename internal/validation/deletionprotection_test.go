// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/validation"
)

func TestDeletion(t *testing.T) {
	const always, cascading = "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Always",
		"forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Cascading and replicas 3>0"
	deleting := metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}
	for _, tt := range []struct {
		name     string
		object   metav1.ObjectMeta
		label    string
		replicas *int32
		want     string
	}{
		{name: "no label", replicas: new(int32(3))},
		{name: "DP-5: Always", label: "Always", want: always},
		{name: "DP-5: Cascading", label: "Cascading", replicas: new(int32(3)), want: cascading},
		{name: "DP-E8: Cascading without replicas", label: "Cascading", replicas: new(int32(0))},
		{name: "DP-8: Cascading with replicas nil", label: "Cascading"},
		{name: "DP-E4: lower case", label: "always", replicas: new(int32(3))},
		{name: "DP-4, DP-E6: being deleted", object: deleting, label: "Always", replicas: new(int32(3))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.label != "" {
				tt.object.Labels = map[string]string{validation.DeletionProtection: tt.label}
			}
			got := ""
			if err := validation.Deletion(&tt.object, tt.replicas); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
