// SPDX-License-Identifier: Apache-2.0

// Package podtemplate fills in what the templates of a workload leave open,
// before it is stored.
//
// The defaults are those of Kubernetes 1.22, and they stay there. A workload compares the
// template it stores with the revisions of its pods. A default that an older revision
// does not have would be a difference. Then a change of one image would no longer be an
// update in place. What Kubernetes added later is defaulted by the API server when the
// pod is created.
//
// # Differences to the defaults of today's API server
//
//   - A container without imagePullPolicy gets Always, whatever its tag. Init
//     containers and ephemeral containers get Always for the tag latest or no
//     tag, and IfNotPresent otherwise, as everywhere.
//   - With hostNetwork, ports without hostPort get their container port, as
//     Kubernetes did in templates before 1.28.
//   - serviceAccount is not kept in step with serviceAccountName.
//   - Fields newer than 1.22 are left unchanged. They are the pull policy of image
//     volumes, optional of fileKeyRef, the rounding of a pod's own resources and of a
//     claim's allocatedResources. One exception: service of a gRPC probe becomes "",
//     because it is encoded in any case, as null without it.
package podtemplate
