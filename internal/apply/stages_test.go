// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// The second stage follows if the first has changed no pod, for certain. (CS-16)
func TestStages(t *testing.T) {
	pods := corev1.Resource("pods")
	status := func(code int32) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: "injected"}}
	}
	gone := func(s *fixture) { s.remove("web-0") }
	for _, test := range []struct {
		name string
		err  error
		act  func(*fixture) // what became of the pod
		want bool           // the second stage follows
	}{
		{"it was done", nil, nil, false},
		{"it was refused", errQuota, nil, true},
		{"a conflict tells nothing", apierrors.NewConflict(pods, "web-0", errors.New("changed")), nil, false},
		{"no answer", errLost, nil, false},
		{"502: it may yet be done", status(http.StatusBadGateway), nil, false},
		{"504: it may yet be done", status(http.StatusGatewayTimeout), nil, false},
		{"500, and the pod is as it was", errInternal, nil, true},
		{"503, and the pod is as it was", status(http.StatusServiceUnavailable), nil, true},
		{"500, and the pod is gone", errInternal, gone, false},
		{"500, and the pod is another one", errInternal, func(s *fixture) { s.remove("web-0"); s.existing("web-0") }, false},
		{"500, and the API server does not tell what became of the pod", errInternal, func(s *fixture) { s.fail("get pods", errInternal) }, false},
		{"the name is taken, by a pod of others", apierrors.NewAlreadyExists(pods, "web-0"), nil, true},
		{"the name is taken, and not any more", apierrors.NewAlreadyExists(pods, "web-0"), gone, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			pod := s.existing("web-0")[0]
			if test.act != nil {
				test.act(s)
			}
			done := 0
			stages := &rollout.Stages{Otherwise: rollout.Stage{Delete: []rollout.PodDeletion{{Pod: pod}}}}
			err := s.applyStages(t.Context(), stages, func(_ context.Context, stage *rollout.Stage) error {
				if done++; stage == &stages.Otherwise {
					return nil
				}
				s.podWrites.ended(pod, test.err)
				return test.err
			})
			if !errors.Is(err, test.err) || (done == 2) != test.want {
				t.Errorf("error %v, %d stages; the second is wanted: %t", err, done, test.want)
			}
		})
	}
}

// A pod that was to be created, and is not there after a 500, was not created.
func TestStagesAfterACreation(t *testing.T) {
	for there, want := range map[bool]bool{false: false, true: true} {
		s := newFixture(t)
		if there {
			s.existing("web-0")
		}
		s.podWrites.ended(pod("web-0"), errInternal)
		if got := s.podWrites.any(t.Context(), s.Sync); got != want {
			t.Errorf("it is there: %t, and was created: %t", there, got)
		}
	}
}
