// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podplan"
)

// Pods are sorted by namespace and then by name, whether they are in one namespace or in several.
func TestSortPods(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for namespaces := range 4 {
		for range 20 {
			var pods []*pod
			for _, n := range random.Perm(200)[:random.IntN(200)] {
				shared := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop" + strconv.Itoa(random.IntN(namespaces+1)), Name: "p" + strconv.Itoa(n)}}
				pods = append(pods, &pod{View: podplan.View{Pod: shared}})
			}
			want := slices.SortedFunc(slices.Values(pods), func(a, b *pod) int { return byName(a.Pod, b.Pod) })
			if sortPods(pods); !slices.Equal(want, pods) {
				t.Fatalf("%d pods of up to %d namespaces are out of order", len(pods), namespaces+1)
			}
		}
	}
}
