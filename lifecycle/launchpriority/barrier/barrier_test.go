// SPDX-License-Identifier: Apache-2.0

package barrier_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

func TestOf(t *testing.T) {
	fromSecret := corev1.EnvVar{Name: "KRUISE_CONTAINER_BARRIER", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "p_1"}}}
	other := waits("web-barrier/p_1")
	other.Name = "OTHER"
	for _, test := range []struct {
		name string
		env  []corev1.EnvVar
		want []barrier.Barrier
	}{
		{"no environment", nil, nil},
		{"a priority alone has no effect on a pod that exists", []corev1.EnvVar{literal("KRUISE_CONTAINER_PRIORITY", "5")}, nil},
		{"LP-16: the number behind p_", []corev1.EnvVar{waits("web-barrier/p_5")}, []barrier.Barrier{{ConfigMap: "web-barrier", Key: "p_5", Priority: 5}}},
		{"LP-E7: a negative number", []corev1.EnvVar{waits("web-barrier/p_-3")}, []barrier.Barrier{{ConfigMap: "web-barrier", Key: "p_-3", Priority: -3}}},
		{"LP-E12: written by hand, the key stays as it is", []corev1.EnvVar{waits("web-barrier/p_007")}, []barrier.Barrier{{ConfigMap: "web-barrier", Key: "p_007", Priority: 7}}},
		{"several", []corev1.EnvVar{waits("a/p_1"), waits("b/p_2")}, []barrier.Barrier{{ConfigMap: "a", Key: "p_1", Priority: 1}, {ConfigMap: "b", Key: "p_2", Priority: 2}}},
		{"no number", []corev1.EnvVar{waits("web-barrier/p_high")}, nil},
		{"no prefix", []corev1.EnvVar{waits("web-barrier/5")}, nil},
		{"a literal value", []corev1.EnvVar{literal("KRUISE_CONTAINER_BARRIER", "p_5")}, nil},
		{"from a Secret", []corev1.EnvVar{fromSecret}, nil},
		{"another variable", []corev1.EnvVar{other}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &corev1.Container{Env: test.env}
			if diff := cmp.Diff(test.want, barrier.Of(c)); diff != "" {
				t.Errorf("barriers (-want +got):\n%s", diff)
			}
			priority, ok := barrier.Priority(c)
			if ok != (len(test.want) > 0) || ok && priority != test.want[len(test.want)-1].Priority {
				t.Errorf("priority %d, %t", priority, ok)
			}
		})
	}
}

// A key is read as it was written.
func FuzzOf(f *testing.F) {
	f.Add("p_5")
	f.Add("p_-0")
	f.Add("p_")
	f.Add("p_9223372036854775808")
	f.Fuzz(func(t *testing.T, key string) {
		priority, ok := barrier.Priority(&corev1.Container{Env: []corev1.EnvVar{waits("web-barrier/" + key)}})
		again, okAgain := barrier.Priority(&corev1.Container{Env: []corev1.EnvVar{waits("web-barrier/" + barrier.Key(priority))}})
		if ok && (!okAgain || again != priority) {
			t.Errorf("key %q has the priority %d, and its key %d", key, priority, again)
		}
	})
}
