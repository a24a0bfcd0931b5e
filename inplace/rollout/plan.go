// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/revision"
)

// Plan is what the plans of all kinds of workloads say: data, to be looked at,
// compared and applied. The plan of a kind embeds it. The zero Plan does nothing.
type Plan struct {
	// Revisions is what becomes of the history. Its Update is the revision of
	// the present template, its Current the one that pods come from.
	Revisions revision.Changes

	// Stages lists the pods to create, to delete and to change.
	Stages
	// CreateClaims lists claims that pods wait for which exist already.
	CreateClaims []*corev1.PersistentVolumeClaim
	// PatchClaims lists claims that get other owners, beside those of pods to delete.
	PatchClaims []ClaimPatch

	// Waiting lists the pods that should change and do not, each with the
	// reason. A wait without a pod stands for pods not created yet.
	Waiting []Wait

	// Held lists what keeps the workload from its spec, what users asked for left aside. What has lasted for a minute is
	// told by the condition HeldUp.
	Held []Wait

	// PreDownload is what to do about pulling images ahead.
	PreDownload PreDownload

	// RequeueAfter is the time after which the plan may be another without
	// any event; 0 when only events can change it.
	RequeueAfter time.Duration
	// Problems are errors in the spec or in the data of single pods, each with
	// what to do about it. The rest of the plan works around them.
	Problems []Problem
}

// Problem is an error in what a plan is made for. The plans of all kinds list such in Problems.
type Problem struct {
	// Condition is the type of the object's condition that reports it; empty if none does.
	Condition string
	// Err says what was wanted, what was found and what to do.
	Err error
}

// ProblemsOf returns errors as the problems of a plan; nil is none.
func ProblemsOf(errs ...error) (all []Problem) {
	for _, err := range errs {
		if err != nil {
			all = append(all, Problem{Err: err})
		}
	}
	return all
}

// ErrorOf returns the errors of problems as one: nil for none, and a single one as it was given.
func ErrorOf(problems []Problem) error {
	if len(problems) == 1 {
		return problems[0].Err
	}
	errs := make([]error, len(problems))
	for i := range problems {
		errs[i] = problems[i].Err
	}
	return errors.Join(errs...)
}

// PreDownload is what to do about pulling images ahead of an in-place update.
// It is decided once per revision; a label on the revision records the outcome.
// The zero value is nothing. A Reason without a Label is a wait.
type PreDownload struct {
	// Create lists the jobs to create, one per container whose image changes, in
	// the order of the containers.
	Create []*distributionv1alpha1.ImagePullJob
	// Label is the label to set to "true" on the update revision once all
	// jobs are created; empty for none.
	Label string
	// Delete names the jobs to delete, since the update is over.
	Delete []string
	// Reason says in words why no images are pulled ahead, or not yet.
	Reason string
}
