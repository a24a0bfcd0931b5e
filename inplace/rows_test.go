// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// row is what a row of testdata/parts.txt gives.
type row struct {
	From, To   any // documents
	Image      string
	Given, Has string   // images of a container: the one that an update gave, and that of the pod
	Before     []string // those that were replaced: the last one is the last
	Env        []EnvValue
	Pod        corev1.Pod
}

// TestRows plays the tables of testdata/parts.txt, see patches.PlayRows. They show how documents differ, the full names of images, images that
// came back, what is expected of environments, and their hashes.
func TestRows(t *testing.T) {
	patches.PlayRows(t, "testdata/parts.txt", nil, func(t *testing.T, command string, r *row) string {
		switch command {
		case "diff":
			out := ""
			for _, op := range diff(nil, "", r.From, r.To) {
				out += op.op + " " + op.path + "; "
			}
			return out
		case "image":
			return fullImage(r.Image)
		case "hash":
			hash, err := EnvHash(r.Env)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(hash)
		case "environment":
			return fmt.Sprint(ExpectedEnv(&r.Pod, &r.Pod.Spec.Containers[0]))
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: "2"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: r.Has}}},
		}
		last := map[string]v1alpha1.LastContainer{"main": {Image: r.Given, Images: r.Before}}
		return fmt.Sprint(putBack(pod, &v1alpha1.State{Revision: "2", LastContainers: last}))
	})
	unsorted := []EnvValue{{"B", "x"}, {"A", "v1"}}
	if _, err := EnvHash(unsorted); err != nil || !cmp.Equal([]EnvValue{{"B", "x"}, {"A", "v1"}}, unsorted) {
		t.Errorf("the argument was sorted: %v, %v", unsorted, err)
	}
}

func TestPlainHashes(t *testing.T) {
	got, err := PlainHashes(&corev1.Container{Name: "main", Image: "nginx:1.0"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(got, 877854714) {
		t.Errorf("CM-4.2: got %v, want 877854714 among them", got)
	}
}
