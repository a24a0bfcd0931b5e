// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"testing"

	"k8s.io/client-go/tools/cache"

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionfake "github.com/podwright/podwright/distribution/client/fake"
)

func TestNewImagePullJobs(t *testing.T) {
	c := distributionfake.NewClient()
	informer := distributionclient.NewImagePullJobInformer(c, "", 0, cache.Indexers{})
	jobs, err := NewImagePullJobs(c, informer)
	if err != nil {
		t.Fatal(err)
	}
	if names, err := jobs.Owned("default", "uid-web"); err != nil || names != nil {
		t.Errorf("an empty cache holds %v, %v", names, err)
	}
	if _, err := NewImagePullJobs(c, informer); err != nil {
		t.Errorf("two controllers cannot share an informer: %v", err)
	}
	if _, err := NewImagePullJobs(nil, nil); err == nil {
		t.Error("no error without a client")
	}
}
