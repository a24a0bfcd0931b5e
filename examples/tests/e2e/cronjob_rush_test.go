// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed"
)

// BenchmarkAdvancedCronJobsOfOneMinute has 1,000 cron jobs fire at the same minute. It reports the bound that 99 of 100
// delays keep. A delay is the time from the scheduled time to the creation of the job, as the metric of the manager has it.
// On a machine of a few cores the API server is what is slow. The figure plain-s is how long it takes for the same writes
// from a bare client.
//
//	go test ./tests/e2e -run '^$' -bench AdvancedCronJobs -benchtime 1x
func BenchmarkAdvancedCronJobsOfOneMinute(b *testing.B) {
	const cronJobs = 1000
	for b.Loop() {
		namespace, err := steady.Core.CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "rush-"}}, metav1.CreateOptions{})
		if err != nil {
			b.Fatal(err)
		}
		due := time.Now().Add(90 * time.Second).Truncate(time.Minute).UTC() // a minute or so to create them
		before := delays(b)
		group, ctx := errgroup.WithContext(b.Context())
		group.SetLimit(16)
		for i := range cronJobs {
			group.Go(func() error {
				cronJob := newCronJob(fmt.Sprintf("TZ=Etc/UTC %d %d * * *", due.Minute(), due.Hour()))
				cronJob.Name, cronJob.Spec.Template.JobTemplate.Spec.Suspend = fmt.Sprint("web-", i), new(true)
				_, err := steady.workloads.AdvancedCronJobs(namespace.Name).Create(ctx, cronJob, metav1.CreateOptions{})
				return err
			})
		}
		if err := group.Wait(); err != nil {
			b.Fatal(err)
		}
		early := time.Until(due)
		if early < time.Second {
			b.Fatalf("the last cron job was created %v before it was due", early)
		}
		ctx, cancel := context.WithTimeout(b.Context(), early+time.Minute)
		var after *dto.Histogram
		err = testbed.Repeat(ctx, "all jobs to be created", func() error {
			if after = delays(b); after.GetSampleCount()-before.GetSampleCount() < cronJobs {
				return fmt.Errorf("%d jobs of %d", after.GetSampleCount()-before.GetSampleCount(), cronJobs)
			}
			return nil
		})
		cancel()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(bound(before, after, 0.5), "p50-s")
		b.ReportMetric(bound(before, after, 0.99), "p99-s")
		b.ReportMetric(plainly(b, namespace.Name, cronJobs).Seconds(), "plain-s")
		b.ReportMetric((after.GetSampleSum()-before.GetSampleSum())/cronJobs, "mean-s")
		if err := steady.Core.CoreV1().Namespaces().Delete(b.Context(), namespace.Name, metav1.DeleteOptions{}); err != nil {
			b.Error(err)
		}
	}
}

// plainly returns how long the API server takes for the writes that so many jobs need at least, from a client that does
// nothing else. Each job needs one write of a status and one of a job.
func plainly(b *testing.B, namespace string, jobs int) time.Duration {
	b.Helper()
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(20) // as many as the manager has workers
	begin := time.Now()
	for i := range jobs {
		group.Go(func() error {
			status := fmt.Appendf(nil, `{"status":{"lastScheduleTime":%q}}`, begin.UTC().Format(time.RFC3339))
			if _, err := steady.workloads.AdvancedCronJobs(namespace).Patch(ctx, fmt.Sprint("web-", i), types.MergePatchType, status, metav1.PatchOptions{}, "status"); err != nil {
				return err
			}
			spec := newCronJob("").Spec.Template.JobTemplate.Spec
			spec.Suspend = new(true)
			_, err := steady.Core.BatchV1().Jobs(namespace).Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("plain-", i)}, Spec: spec}, metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	return time.Since(begin)
}

// delays are those that the manager has measured.
func delays(b *testing.B) *dto.Histogram {
	b.Helper()
	text, err := steady.Manager.Get(steady.Manager.Metrics, "/metrics")
	if err != nil {
		b.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		b.Fatal(err)
	}
	return families["podwright_advancedcronjob_creation_delay_seconds"].GetMetric()[0].GetHistogram()
}

// bound returns the lowest bucket that a part of what was measured in between stays in.
func bound(before, after *dto.Histogram, part float64) float64 {
	all := float64(after.GetSampleCount() - before.GetSampleCount())
	for i, bucket := range after.GetBucket() {
		if float64(bucket.GetCumulativeCount()-before.GetBucket()[i].GetCumulativeCount()) >= part*all {
			return bucket.GetUpperBound()
		}
	}
	return -1
}
