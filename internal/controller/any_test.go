package controller

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestOfAny(t *testing.T) {
	node := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	name := func(n *corev1.Node) string {
		if n == nil {
			return "-"
		}
		return n.Name
	}
	for initial, want := range map[bool][]string{
		false: {"- b", "b c", "c -", "d -"},
		true:  {"- a", "- b", "b c", "c -", "d -"},
	} {
		t.Run(fmt.Sprint("initial ", initial), func(t *testing.T) {
			var got []string
			handler := OfAny(initial, func(before, after *corev1.Node) { got = append(got, name(before)+" "+name(after)) })
			handler.OnAdd(node("a"), true)
			handler.OnAdd(node("b"), false)
			handler.OnUpdate(node("b"), node("c"))
			handler.OnDelete(node("c"))
			handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "d", Obj: node("d")})
			handler.OnDelete(&corev1.Pod{})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}
