// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/injection/policy"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// withPolicies are the flags of a manager that manages policies of SidecarSets. They take rights.
var withPolicies = []string{"--feature-gates=" + gates + ",SidecarSetPolicies=true"}

// With policies of SidecarSets pods are injected while no manager runs. The webhook is registered to refuse pods then, but it
// is not asked about them. It is among TestFaults: the manager is another one meanwhile. (SPC-1, SPC-3 to SPC-5, SPC-10)
func testSidecarSetPoliciesOutliveTheManager(t *testing.T, b *bed) {
	s := newSidecarFixture(t, b)
	s.Manager.Kill()
	s.Cleanup(b.cloneSetFixture(t).revive)
	manager := s.Manager.With(withPolicies...)
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	s.Cleanup(manager.Kill)
	set := s.sidecarSet("log")
	free := s.takeName(set.Name)
	s.AwaitAsking("SidecarSets are accepted", func() string {
		if _, err := s.sets.Create(s.Context(), set, metav1.CreateOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
	s.AwaitAsking("an event says that the name is taken", func() string {
		events, err := s.Core.CoreV1().Events("default").List(s.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + set.Name + ",reason=" + policies.ReasonPolicyNameTaken})
		if err != nil {
			return err.Error()
		}
		if len(events.Items) == 0 {
			return "there is none"
		}
		return ""
	})
	free()
	s.Cleanup(func() { _ = s.sets.Delete(context.Background(), set.Name, metav1.DeleteOptions{}) })
	s.awaitPolicy(set.Name, true)
	edit := func(patch string) {
		if _, err := s.sets.Patch(s.Context(), set.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.changeBinding(set.Name)
	edit(`{"spec":{"injectionStrategy":{"paused":true}}}`)
	s.awaitPolicy(set.Name, false)
	edit(`{"spec":{"injectionStrategy":{"paused":false}}}`)
	s.awaitPolicy(set.Name, true)
	edit(`{"spec":{"containers":[{"name":"log","image":"log:2"}]}}`)
	s.awaitPolicy(set.Name, true)
	s.awaitNotAsked(set.Name)
	stored, err := s.sets.Get(s.Context(), set.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	manager.Kill()
	// The API server takes up to a second for a new policy; until then the webhook would be asked, and pods are refused.
	s.AwaitAsking("pods are created without the webhook", func() string {
		made, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), plainPod("asked", webPod), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err.Error()
		}
		if records := made.Annotations[v1alpha1.SidecarSetHashAnnotation]; !strings.Contains(records, strconv.Quote(stored.Status.LatestRevision)) {
			return "it has " + records
		}
		return ""
	})

	var creating errgroup.Group
	creating.SetLimit(8)
	for i := range 100 {
		creating.Go(func() error {
			made, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), plainPod(fmt.Sprint("web-", i), webPod), metav1.CreateOptions{})
			if err != nil {
				return err
			}
			records, err := injection.Records(made, v1alpha1.SidecarSetHashAnnotation)
			if err != nil {
				return err
			}
			hashes, err := injection.HashesOf(stored)
			if r := records[set.Name]; err != nil || r.SidecarSetHash != hashes.Containers || r.SidecarSetControllerRevision != stored.Status.LatestRevision ||
				!slices.ContainsFunc(made.Spec.Containers, func(c corev1.Container) bool { return c.Name == "log" && c.Image == "log:2" }) {
				return fmt.Errorf("pod %s, error %v: record %+v, want hash %s of revision %s", made.Name, err, r, hashes.Containers, stored.Status.LatestRevision)
			}
			return nil
		})
	}
	if err := creating.Wait(); err != nil {
		t.Error(err)
	}
}

// takeName creates a policy of the name of that of a SidecarSet, as a user may. It concerns nothing. free deletes it.
func (s *sidecarFixture) takeName(set string) (free func()) {
	s.Helper()
	compiled, err := policy.Compile(policy.Input{SidecarSet: s.sidecarSet("other"), Created: time.Now()})
	if err != nil {
		s.Fatal(err)
	}
	compiled.Policy.Name, compiled.Policy.OwnerReferences = policy.Name(set), nil
	admission := s.Core.AdmissionregistrationV1().MutatingAdmissionPolicies()
	if _, err := admission.Create(s.Context(), compiled.Policy, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	return func() {
		if err := admission.Delete(s.Context(), compiled.Policy.Name, metav1.DeleteOptions{}); err != nil {
			s.Error(err)
		}
	}
}

// changeBinding changes the binding of a policy as a user may, and waits until that is put back. (SPC-7)
func (s *sidecarFixture) changeBinding(set string) {
	s.Helper()
	bindings := s.Core.AdmissionregistrationV1().MutatingAdmissionPolicyBindings()
	if _, err := bindings.Patch(s.Context(), policy.Name(set), types.MergePatchType, []byte(`{"spec":{"matchResources":{"objectSelector":{"matchLabels":{"a":"b"}}}}}`), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
	s.AwaitAsking("the binding is put back", func() string {
		binding, err := bindings.Get(s.Context(), policy.Name(set), metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if binding.Spec.MatchResources != nil {
			return "it is not"
		}
		return ""
	})
}

// awaitPolicy waits until the policy of the latest revision is there with its binding, or both are gone.
func (s *sidecarFixture) awaitPolicy(set string, there bool) {
	s.Helper()
	admission := s.Core.AdmissionregistrationV1()
	s.AwaitAsking(fmt.Sprintf("the policy of SidecarSet %s is there: %t", set, there), func() string {
		stored, err := s.sets.Get(s.Context(), set, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		p, err := admission.MutatingAdmissionPolicies().Get(s.Context(), policy.Name(set), metav1.GetOptions{})
		_, unbound := admission.MutatingAdmissionPolicyBindings().Get(s.Context(), policy.Name(set), metav1.GetOptions{})
		switch {
		case !there && apierrors.IsNotFound(err) && apierrors.IsNotFound(unbound):
			return ""
		case !there || err != nil || unbound != nil:
			return fmt.Sprintf("policy: error %v, binding: error %v", err, unbound)
		case stored.Status.ObservedGeneration != stored.Generation || p.Annotations[policy.RevisionAnnotation] != stored.Status.LatestRevision:
			return fmt.Sprintf("it is that of revision %s, and the status is %+v", p.Annotations[policy.RevisionAnnotation], stored.Status)
		}
		return ""
	})
}

// awaitNotAsked waits until the webhook is registered not to be asked about pods into which the SidecarSet has been injected.
func (s *sidecarFixture) awaitNotAsked(set string) {
	s.Helper()
	s.AwaitAsking("the condition of the webhook leaves out what is injected", func() string {
		registered, err := s.Core.AdmissionregistrationV1().MutatingWebhookConfigurations().List(s.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, configuration := range registered.Items {
			for _, w := range configuration.Webhooks {
				if w.Name == "mpod.kb.io" && (len(w.MatchConditions) == 0 || !strings.Contains(w.MatchConditions[0].Expression, fmt.Sprintf("!(%q in injected)", set))) {
					return fmt.Sprintf("the conditions of %s are %v", w.Name, w.MatchConditions)
				}
			}
		}
		return ""
	})
}
