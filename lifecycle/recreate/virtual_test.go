// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A request for a pod of a virtual node has the node's label, and a node that is gone keeps no request from being made. (CRR-3.4)
func TestVirtualNodes(t *testing.T) {
	node := func(labels map[string]string, err error) recreate.NodeLookup {
		return func(_ context.Context, name string) (*corev1.Node, error) {
			if name != runningPod().Spec.NodeName {
				t.Errorf("node %q is looked up", name)
			}
			node := &corev1.Node{}
			node.Labels = labels
			return node, err
		}
	}
	request := &v1alpha1.ContainerRecreateRequest{}
	request.Spec.PodName = "web-0"
	request.Spec.Containers = []v1alpha1.ContainerRecreateRequestContainer{{Name: runningPod().Spec.Containers[0].Name}}
	for _, tt := range []struct {
		name     string
		nodes    recreate.NodeLookup
		labelled bool
	}{
		{"CRR-3.4: a virtual node", node(map[string]string{"type": "virtual-kubelet"}, nil), true},
		{"CRR-3.4: another type", node(map[string]string{"type": "metal"}, nil), false},
		{"CRR-3.4: a node without the label", node(nil, nil), false},
		{"CRR-3.4: the node is gone", node(nil, apierrors.NewNotFound(corev1.Resource("nodes"), "n")), false},
		{"CRR-3.4: it cannot be read", node(nil, errors.New("no route to host")), false},
		{"CRR-3.3: nodes are not looked at", nil, false},
	} {
		webhook := recreate.Webhook{Pods: pods, Nodes: tt.nodes}
		got := webhook.Default(t.Context(), review(encode(t, request), ""))
		if !got.Allowed {
			t.Errorf("%s: refused: %v", tt.name, got.Result)
		}
		if labelled := strings.Contains(string(got.Patch), `"type":"virtual-kubelet"`); labelled != tt.labelled {
			t.Errorf("%s: labelled %t, want %t: %s", tt.name, labelled, tt.labelled, got.Patch)
		}
		if rules := webhook.Rules(); (len(rules) == 2) != (tt.nodes != nil) {
			t.Errorf("%s: rules %v", tt.name, rules)
		}
	}
}
