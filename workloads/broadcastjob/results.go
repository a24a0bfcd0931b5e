// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// mostNamed is how many nodes status.nodeResults names. (BJ-29)
const mostNamed = 1000

// results are those of the nodes of a job, as a status holds them.
type results struct {
	job    types.UID
	byName map[string]v1alpha1.BroadcastJobNodeResult
	byHash map[uint64]v1alpha1.BroadcastJobNodeResult // nil: all are named
}

// readResults reads a status. What cannot be read of it counts as absent: only the controller writes it.
func readResults(job types.UID, status *v1alpha1.BroadcastJobStatus) *results {
	r := &results{job: job, byName: status.NodeResults}
	for key, text := range status.MoreNodeResults {
		result, _, _ := strings.Cut(key, "-")
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			continue
		}
		if r.byHash == nil {
			r.byHash = map[uint64]v1alpha1.BroadcastJobNodeResult{}
		}
		for ; len(data) >= 8; data = data[8:] {
			r.byHash[binary.BigEndian.Uint64(data)] = v1alpha1.BroadcastJobNodeResult(result)
		}
	}
	return r
}

// of returns the result of a node, empty if it has none.
func (r *results) of(node string) v1alpha1.BroadcastJobNodeResult {
	if result, found := r.byName[node]; found || r.byHash == nil {
		return result
	}
	return r.byHash[hashOf(r.job, node)]
}

// without returns the results of all nodes but the named ones. Their own names are not known.
func (r *results) without(nodes []node) map[uint64]v1alpha1.BroadcastJobNodeResult {
	for i := range nodes {
		if len(r.byHash) == 0 {
			return nil
		}
		delete(r.byHash, hashOf(r.job, nodes[i].name))
	}
	return r.byHash
}

// writeResults puts the results of named nodes, and of others, into a status. Those of the first nodes stand by name, and
// those of all others by hash. What failed comes first. Hashes stand in 256 portions, so that a write of one more result is
// short. (BJ-29)
func writeResults(status *v1alpha1.BroadcastJobStatus, job types.UID, named map[string]v1alpha1.BroadcastJobNodeResult, others map[uint64]v1alpha1.BroadcastJobNodeResult) {
	status.NodeResults, status.MoreNodeResults = named, nil
	if len(named) <= mostNamed && len(others) == 0 {
		return
	}
	names := make([]string, 0, len(named))
	for name := range named {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(named[a], named[b]), cmp.Compare(a, b)) // Failed, Succeeded
	})
	first := min(len(names), mostNamed)
	status.NodeResults = make(map[string]v1alpha1.BroadcastJobNodeResult, first)
	for _, name := range names[:first] {
		status.NodeResults[name] = named[name]
	}
	portions := map[string][]uint64{}
	add := func(hash uint64, result v1alpha1.BroadcastJobNodeResult) {
		key := fmt.Sprintf("%s-%02x", result, hash>>56)
		portions[key] = append(portions[key], hash)
	}
	for _, name := range names[first:] {
		add(hashOf(job, name), named[name])
	}
	for hash, result := range others {
		add(hash, result)
	}
	status.MoreNodeResults = make(map[string]string, len(portions))
	for key, hashes := range portions {
		slices.Sort(hashes)
		data := make([]byte, 0, 8*len(hashes))
		for _, hash := range hashes {
			data = binary.BigEndian.AppendUint64(data, hash)
		}
		status.MoreNodeResults[key] = base64.StdEncoding.EncodeToString(data)
	}
}

// hashOf stands for a node. The UID of the job has two nodes that share a hash in one job have others in the next.
func hashOf(job types.UID, node string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, string(job)+"/"+node)
	return mix(h.Sum64())
}

// mix spreads the bits of a hash over its first byte, which FNV does little for short names.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
