// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// show shows NodeImages with their tasks, jobs, copies of pull secrets, and pods that pull. An owner of a task that does not exist
// (any more) has a question mark.
func (p *player) show() string {
	jobs, err := p.jobs.List(p.Context(), metav1.ListOptions{})
	p.Must(err)
	var lines []string
	nodes := p.nodeImages()
	for _, n := range nodes {
		lines = append(lines, p.showTasks(&n, jobs.Items)...)
	}
	if len(nodes) > 9 {
		lines = []string{fmt.Sprintf("%d nodes with %d tasks", len(nodes), len(p.tasks()))}
	}
	for i := range jobs.Items {
		job := &jobs.Items[i]
		line := fmt.Sprintf("job %s: %s", job.Name, job.Status.Message)
		for _, count := range []struct {
			what string
			n    int32
		}{{"desired", job.Status.Desired}, {"active", job.Status.Active}, {"succeeded", job.Status.Succeeded}, {"failed", job.Status.Failed}} {
			if count.n > 0 {
				line += fmt.Sprintf(", %d %s", count.n, count.what)
			}
		}
		if failed := job.Status.FailedNodes; len(failed) > 0 {
			line += fmt.Sprint(" ", failed)
		}
		if at := job.Status.CompletionTime; at != nil {
			line += ", over at " + at.UTC().Format(time.RFC3339)
		}
		if len(job.Finalizers) > 0 {
			line += fmt.Sprint(", finalizers ", job.Finalizers)
		}
		lines = append(lines, line)
	}
	for _, copied := range p.copies() {
		lines = append(lines, "copy of "+copied)
	}
	pods, err := p.kube.CoreV1().Pods(namespace).List(p.Context(), metav1.ListOptions{})
	p.Must(err)
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			lines = append(lines, strings.TrimSuffix(fmt.Sprintf("pod %s on %s", pod.Name, pod.Spec.NodeName), " on "))
		}
	}
	if p.order != nil {
		lines = strings.Split(p.order.Replace(strings.Join(lines, "\n")), "\n")
		slices.Sort(lines)
	}
	return strings.Join(append(lines, ""), "\n")
}

func (p *player) showTasks(n *v1alpha1.NodeImage, jobs []v1alpha1.ImagePullJob) (lines []string) {
	for name, image := range n.Spec.Images {
		for _, task := range image.Tags {
			line := fmt.Sprintf("%s: %s:%s v%d", n.Name, name, task.Tag, task.Version)
			owners := slices.SortedFunc(slices.Values(task.OwnerReferences), func(a, b corev1.ObjectReference) int { return cmp.Compare(a.Name, b.Name) })
			for _, owner := range owners { // jobs come in any order
				line += " " + owner.Name
				if !slices.ContainsFunc(jobs, func(job v1alpha1.ImagePullJob) bool { return job.UID == owner.UID }) {
					line += "?"
				}
			}
			for _, secret := range image.PullSecrets {
				line += fmt.Sprintf(", secret %s/%s", secret.Namespace, secret.Name)
			}
			for _, status := range n.Status.ImageStatuses[name].Tags {
				if status.Tag == task.Tag {
					line += strings.TrimSuffix(fmt.Sprintf(", %s: %s", status.Phase, status.Message), ": ")
				}
			}
			lines = append(lines, line)
		}
	}
	if len(lines) > 9 || len(lines) == 0 {
		return []string{fmt.Sprintf("%s: %d tasks", n.Name, len(lines))}
	}
	slices.Sort(lines)
	return lines
}

// deletions shows what the controllers have deleted, and whether that is what they had read: by its UID, and perhaps of its version. (IMG-1.5, IMG-1.6)
func (p *player) deletions() (said string) {
	for _, r := range slices.Concat(p.Requests(jobUser), p.Requests(nodeUser)) {
		var options metav1.DeleteOptions
		if r.Verb != "delete" {
			continue
		}
		p.Must(json.Unmarshal(r.Body, &options))
		said += "\ndeletes " + r.Resource + " " + r.Name
		if of := options.Preconditions; of != nil && of.UID != nil {
			said += " by UID"
			if of.ResourceVersion != nil {
				said += " and version"
			}
		}
	}
	return said
}

var moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// relative shows moments as the time since the story began.
func (p *player) relative(text string) string {
	return moments.ReplaceAllStringFunc(text, func(moment string) string {
		at, err := time.Parse(time.RFC3339, moment)
		p.Must(err)
		return at.Sub(p.began).String()
	})
}
