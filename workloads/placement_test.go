// SPDX-License-Identifier: Apache-2.0

package workloads_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads"
)

// on is a Placement by name, which adds its own to what the pod has.
type on string

func (o on) PlacePod(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if o == "" {
		return nil, errors.New("nowhere")
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeName += string(o)
	return pod, nil
}

func TestPlacements(t *testing.T) {
	for _, test := range []struct {
		all  workloads.Placements
		want string
	}{
		{nil, ""}, {workloads.Placements{on("a"), nil, on("b")}, "ab"},
	} {
		given := &corev1.Pod{}
		got, err := test.all.PlacePod(t.Context(), given)
		if err != nil || got.Spec.NodeName != test.want || given.Spec.NodeName != "" {
			t.Errorf("placed on %+v, error %v, want %q", got, err, test.want)
		}
	}
	if got, err := (workloads.Placements{on("a"), on(""), on("b")}).PlacePod(t.Context(), &corev1.Pod{}); err == nil || got != nil {
		t.Errorf("placed on %v", got)
	}
}

// Nothing is placed, and nothing let through, before it is known who places.
func TestLatePlacement(t *testing.T) {
	p := workloads.NewLatePlacement("Widgets")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.PlacePod(over, &corev1.Pod{}); err == nil || !strings.Contains(err.Error(), "not known yet whether the API server serves Widgets") {
		t.Errorf("error %v", err)
	}
	given := &corev1.Pod{}
	p.Missing()
	if got, err := p.PlacePod(t.Context(), given); got != given || err != nil {
		t.Errorf("placed %v, error %v", got, err)
	}
	p.Set(on("a"))
	if got, err := p.PlacePod(t.Context(), given); err != nil || got.Spec.NodeName != "a" {
		t.Errorf("placed %v, error %v", got, err)
	}
}
