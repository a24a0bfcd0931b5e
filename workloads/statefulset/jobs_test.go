// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
)

// memoryJobs keeps jobs in memory.
type memoryJobs struct {
	lock sync.Mutex
	jobs []*distributionv1alpha1.ImagePullJob
	log  []string

	fails, unreadable error
}

func (j *memoryJobs) Owned(namespace string, owner types.UID) (names []string, err error) {
	j.lock.Lock()
	defer j.lock.Unlock()
	for _, job := range j.jobs {
		if job.Namespace == namespace && job.OwnerReferences[0].UID == owner {
			names = append(names, job.Name)
		}
	}
	return names, j.unreadable
}

func (j *memoryJobs) Create(_ context.Context, job *distributionv1alpha1.ImagePullJob) error {
	j.lock.Lock()
	defer j.lock.Unlock()
	if j.fails != nil {
		return j.fails
	}
	j.jobs = append(j.jobs, job)
	j.log = append(j.log, "create "+job.Spec.Image)
	return nil
}

func (j *memoryJobs) Delete(_ context.Context, _, name string) error {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.jobs = slices.DeleteFunc(j.jobs, func(job *distributionv1alpha1.ImagePullJob) bool { return job.Name == name })
	j.log = append(j.log, "delete")
	return j.fails
}
