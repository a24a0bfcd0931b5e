// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"

	"github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// DaemonSet returns a DaemonSet in the version that its controller reads, whichever the API server prefers.
func (o *Object) DaemonSet() (*v1alpha1.DaemonSet, error) {
	document, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if document, err = conversion.DaemonSet(document, v1alpha1.SchemeGroupVersion.String()); err != nil {
		return nil, err
	}
	set := &v1alpha1.DaemonSet{}
	return set, json.Unmarshal(document, set)
}
