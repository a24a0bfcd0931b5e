// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// The controller in a program that has a *rest.Config.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config) error {
		config = rest.CopyConfig(config)
		config.QPS = -1 // the API server shares itself out fairly
		workloads, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		cronJobs, err := cronjob.New(cronjob.Options{Kubernetes: kube, Workloads: workloads})
		if err != nil {
			return err
		}
		return cronJobs.Run(ctx) // until ctx is done
	}
	_ = run
}

// A plan says what is due, or why nothing is, without any cluster.
func ExampleNewPlan() {
	zone := "Asia/Shanghai"
	backup := &v1alpha1.AdvancedCronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "backup", Namespace: "default"},
		Spec: v1alpha1.AdvancedCronJobSpec{
			Schedule: "0 10 * * *", TimeZone: &zone,
			Template: v1alpha1.CronJobTemplate{JobTemplate: &batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyOnFailure}},
			}}},
		},
		Status: v1alpha1.AdvancedCronJobStatus{LastScheduleTime: &metav1.Time{Time: time.Date(2022, 9, 4, 2, 0, 0, 0, time.UTC)}},
	}
	for _, minute := range []int{59, 60} {
		now := time.Date(2022, 9, 5, 1, minute, 0, 0, time.UTC)
		plan := cronjob.NewPlan(&cronjob.Snapshot{CronJob: backup, Now: now})
		if plan.Start != nil {
			fmt.Println("create", plan.Start.Job.Name)
		} else {
			fmt.Println(plan.Waiting[0])
		}
	}
	// Output:
	// no scheduled time has come, the next one is at 2022-09-05T02:00:00Z
	// create backup-1662343200
}
