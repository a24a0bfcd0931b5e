// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// containersFor returns what the job injects: the template, with the UID of the job in the
// last environment variable. (EJ-10, EJ-11)
func containersFor(job *v1alpha1.EphemeralJob) []corev1.EphemeralContainer {
	names := namesFor(job)
	containers := make([]corev1.EphemeralContainer, len(names))
	for i := range containers {
		c := job.Spec.Template.EphemeralContainers[i].DeepCopy()
		c.Name = names[i]
		c.Env = append(slices.DeleteFunc(c.Env, isMark), corev1.EnvVar{Name: v1alpha1.EphemeralJobEnv, Value: string(job.UID)})
		containers[i] = *c
	}
	return containers
}

func isMark(e corev1.EnvVar) bool { return e.Name == v1alpha1.EphemeralJobEnv }

// namesFor returns the names of what the job injects, in the order of the template.
func namesFor(job *v1alpha1.EphemeralJob) []string {
	names := make([]string, len(job.Spec.Template.EphemeralContainers))
	for i := range names {
		names[i] = job.Spec.Template.EphemeralContainers[i].Name
		if job.Annotations[v1alpha1.EphemeralJobUniqueNamesAnnotation] == "true" {
			names[i] = uniqueName(names[i], job.UID)
		}
	}
	return names
}

// ownContainers returns the names of the containers of the template that the job has
// injected into a pod, under either name. (EJ-7)
func ownContainers(job *v1alpha1.EphemeralJob, pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.EphemeralContainers {
		c := &pod.Spec.EphemeralContainers[i]
		marked := slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return isMark(e) && e.Value == string(job.UID) })
		if marked && slices.ContainsFunc(job.Spec.Template.EphemeralContainers, func(of corev1.EphemeralContainer) bool {
			return c.Name == of.Name || c.Name == uniqueName(of.Name, job.UID)
		}) {
			names = append(names, c.Name)
		}
	}
	return names
}

const (
	// idLength makes it unlikely that two jobs of many have the same id.
	idLength = 5
	// maxName is how long the name of a container may be.
	maxName = 63
)

// uniqueName is the name of a container in pods if the job has
// v1alpha1.EphemeralJobUniqueNamesAnnotation. It is the name in the template, cut if it is too
// long, a dash, and five characters. These follow from the name and the UID of the job.
// (EJ-11)
func uniqueName(name string, job types.UID) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, fmt.Sprintf("%s/%s", job, name))
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	sum, id := h.Sum64(), make([]byte, idLength)
	for i := range id {
		id[i] = alphabet[sum%uint64(len(alphabet))]
		sum /= uint64(len(alphabet))
	}
	return name[:min(len(name), maxName-1-idLength)] + "-" + string(id)
}
