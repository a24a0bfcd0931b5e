// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
)

// TestRefusedLast: CT-10. Pods that were refused come last and take turns.
func TestRefusedLast(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	refused := errors.New("refused")
	for _, test := range []struct {
		name     string
		refusals rollout.Refusals
		want     string
	}{
		{"none is refused", rollout.Refusals{}, "a b c d"},
		{"by the API server", rollout.Refusals{Pods: map[types.UID]error{"a": refused, "c": refused}}, "b d a c"},
		{"the longest refused is first", rollout.Refusals{Pods: map[types.UID]error{"a": refused, "c": refused}, At: map[types.UID]time.Time{"a": at(2), "c": at(1)}}, "b d c a"},
		{"budgets take turns, then their pods", rollout.Refusals{Denied: map[types.UID]rollout.Denial{
			"a": {Budget: "x", Since: at(9), Asked: at(9)}, "b": {Budget: "x", Since: at(9)}, "c": {Budget: "y", Since: at(8), Asked: at(8)},
		}}, "d c b a"},
		{"budgets and the API server take turns", rollout.Refusals{Pods: map[types.UID]error{"a": refused, "b": refused}, At: map[types.UID]time.Time{"a": at(5), "b": at(1)},
			Denied: map[types.UID]rollout.Denial{"b": {Since: at(6), Asked: at(6)}, "c": {Since: at(4), Asked: at(4)}}}, "d c a b"},
		{"those that the API server has refused a moment ago are behind", rollout.Refusals{Pods: map[types.UID]error{"a": refused}, At: map[types.UID]time.Time{"a": at(5)}, Now: at(5), Until: at(6),
			Denied: map[types.UID]rollout.Denial{"a": {Since: at(6)}, "b": {Since: at(6), Asked: at(6)}}}, "c d b a"},
	} {
		t.Run("CT-10: "+test.name, func(t *testing.T) {
			var pods []*corev1.Pod
			for _, name := range []string{"a", "b", "c", "d"} {
				pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}})
			}
			var got []string
			for _, pod := range rollout.RefusedLast(&test.refusals, pods, func(pod *corev1.Pod) *corev1.Pod { return pod }) {
				got = append(got, pod.Name)
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("%s, want %s", s, test.want)
			}
		})
	}
}
