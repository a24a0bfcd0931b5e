// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// What is done to the nodes of a play.

func (p *daemonPlay) patchNode(letter string, patch string) {
	p.Helper()
	if _, err := steady.Core.CoreV1().Nodes().Patch(p.Context(), p.node(letter), types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		p.Fatal(err)
	}
}

// choose makes a node one of the template's, or not.
func (p *daemonPlay) choose(letter, value string) {
	p.Helper()
	p.patchNode(letter, fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, p.Namespace, value))
}

// taint gives a node one taint beside its own; an empty key removes it.
func (p *daemonPlay) taint(letter, key string, effect corev1.TaintEffect) {
	p.Helper()
	taints := `{"key":"guarantee","effect":"NoSchedule"}`
	if key != "" {
		taints += fmt.Sprintf(`,{"key":%q,"effect":%q}`, key, effect)
	}
	p.patchNode(letter, `{"spec":{"taints":[`+taints+`]}}`)
}

// remind has Kubernetes' controller look at the set until it counts the pod of a node that should have none. A taint that leaves
// the pods that run does not wake that controller, and nothing else may. Ours wakes by itself.
func (p *daemonPlay) remind() {
	p.Helper()
	if p.group != appsv1.SchemeGroupVersion {
		return
	}
	asked := 0
	p.AwaitAsking("the status counts a misscheduled pod", func() string {
		asked++
		note := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/asked":"%d"}}}`, asked)
		set, err := p.client().Patch(p.Context(), "web", types.MergePatchType, note, metav1.PatchOptions{})
		if err != nil {
			return err.Error()
		}
		if n, _, _ := unstructured.NestedInt64(set.Object, "status", "numberMisscheduled"); n == 0 {
			return "none is counted"
		}
		return ""
	})
}

func (p *daemonPlay) cordon(letter string) {
	p.Helper()
	p.patchNode(letter, `{"spec":{"unschedulable":true}}`)
}
