//! Read-only commands for containers and clusters.

use super::{Spec, online::Online, spec};
use crate::{options::Options, word::Gaps};

const KUBE_GLOBALS: &str = "-n: --namespace: --context: --cluster: -v: --request-timeout: --user:";

pub(super) const SPECS: &[Spec] = &[
    spec(
        "docker podman nerdctl",
        "-a -q -n: -l -s -H -f: --cluster --all --quiet --filter: --format: --last: --latest --no-trunc --size \
         --digests --tree -t: --type: --human --no-stream --since: --until: --tail: --timestamps --follow --details \
         --limit: --no-index --verbose -v --platform: --orphans --services --images --volumes --profiles --hash: \
         --dry-run --no-color --no-log-prefix --index: --status: --resolve-image-digests --no-interpolate \
         --environment --short",
    )
    .sub(
        "events|checkpoint ls|secret inspect|service inspect|config inspect|ps|images|inspect|version|info|stats|top|\
         port|history|diff|container ls|container list|container ps|container inspect|container stats|container top|\
         container port|container diff|image ls|image list|image inspect|image history|volume ls|volume list|\
         volume inspect|network ls|network list|network inspect|context ls|context show|context inspect|system df|\
         system info|node ls|node ps|service ls|service ps|service inspect|stack ls|stack ps|stack services|secret ls|\
         config ls|plugin ls|plugin inspect|buildx ls|buildx du|buildx inspect|buildx version|machine list|machine ls|\
         pod ps|pod ls|pod inspect",
    )
    .examples(
        &["docker ps", "docker images", "docker inspect web", "docker ps -a --filter name=x", "docker system df"],
        &[
            "docker run x",
            "docker rm x",
            "docker -H tcp://x ps",
            "docker --context prod ps",
            "docker ps > f",
            "docker exec web ls",
        ],
    ),
    spec("docker podman nerdctl", "-v --verbose --filter: --format: --limit: --no-trunc --no-index")
        .sub("search|manifest inspect|scout quickview")
        .elsewhere()
        .examples(
            &["docker search nginx", "docker manifest inspect alpine:3"],
            &["docker search $SECRET", "docker manifest inspect x.org/$SECRET"],
        ),
    spec(
        "docker podman nerdctl",
        "-f -n: -t --follow --tail: --timestamps --since: --until: --details --names --color",
    )
    .sub("logs|container logs|service logs|pod logs")
    .examples(&["docker logs -f web", "docker logs --tail 50 web"], &["docker logs --x web"]),
    spec(
        "docker podman nerdctl",
        "-a -q -f --follow --tail: --timestamps -t -n: --since: --until: --services --images --volumes --profiles \
         --format: --all --quiet --no-color --no-log-prefix --filter: --status: --orphans --short --no-trunc --index: \
         --protocol: --environment --hash: --no-interpolate --json",
    )
    .globals("-f: --file: -p: --project-name: --profile: --env-file: --ansi: --project-directory:")
    .addresses()
    .sub(
        "compose ps|compose logs|compose images|compose top|compose ls|compose version|compose port|compose config|\
         compose events|compose stats|compose volumes",
    )
    .examples(
        &["docker compose ps", "docker compose logs -f web", "docker compose config --services"],
        &[
            "docker compose up",
            "docker compose down",
            "docker compose config -o f",
            "docker compose exec web sh",
            "docker compose -f \"oci://x.org/$SECRET\" config",
        ],
    ),
    spec(
        "docker-compose podman-compose",
        "-a -q -f --follow --tail: --timestamps -t --services --images --volumes --format: --all --quiet --no-color \
         --filter:",
    )
    .globals("-f: --file: -p: --project-name: --profile: --env-file: --ansi: --project-directory:")
    .addresses()
    .sub("ps|logs|images|top|ls|version|port|config")
    .examples(&["docker-compose ps", "docker-compose logs web"], &["docker-compose up", "docker-compose down -v"]),
    spec(
        "kubectl oc k",
        "-f: --filename: --show-events? -A -o: -l: -w -L: -n: -R -c: -p --all-namespaces --output: --selector: --watch \
         --watch-only --show-labels --show-kind --sort-by: --field-selector: --namespace: --no-headers \
         --label-columns: --ignore-not-found --chunk-size: --context: --show-managed-fields --recursive --server-print \
         --subresource: --template: --allow-missing-template-keys --output-watch-events",
    )
    .globals(KUBE_GLOBALS)
    .sub("get|describe")
    .asking(local_files)
    .online(Online::Always)
    .examples(
        &[
            "kubectl get pods -A",
            "kubectl -n x get svc -o yaml",
            "kubectl describe pod x",
            "kubectl get pods -o jsonpath='{.items[*].metadata.name}'",
            "kubectl get -f deploy.yaml",
        ],
        &[
            "kubectl get -f https://x/y",
            "kubectl delete pod x",
            "kubectl --kubeconfig f get pods",
            "kubectl apply -f x",
            "kubectl get -f https://x/y --raw /x",
        ],
    ),
    spec(
        "kubectl oc k",
        "--all-pods? --pod-running-timeout: -f -c: -p -l: -n: --follow --container: --previous --tail: --since: \
         --since-time: --timestamps --all-containers? --prefix --selector: --namespace: --context: --max-log-requests: \
         --limit-bytes: --ignore-errors",
    )
    .globals(KUBE_GLOBALS)
    .sub("logs")
    .online(Online::Always)
    .examples(&["kubectl logs -f pod/x -c y", "kubectl logs x --tail=50"], &["kubectl logs --x y"]),
    spec(
        "kubectl oc k",
        "-A -n: -o: -l: --all-namespaces --namespace: --output: --client --short --containers --sort-by: --no-headers \
         --selector: --context: --minify --flatten --recursive --api-version: --api-group: --namespaced? --verbs: \
         --cached --list --quiet --timeout: --revision: --watch? --use-protocol-buffers --sum --merge -q -w \
         --field-selector: --show-capacity? --categories: --for: --types: --subresource: --chunk-size:",
    )
    .globals(KUBE_GLOBALS)
    .sub(
        "top|version|explain|api-resources|api-versions|cluster-info|config view|config current-context|\
         config get-contexts|config get-clusters|config get-users|auth can-i|auth whoami|rollout status|\
         rollout history|events|options|whoami|projects|status",
    )
    .asking(not_raw)
    .online(Online::AllBut {
        subcommands: "config view|config current-context|config get-contexts|config get-clusters|config get-users|\
            options",
        options: "--client",
    })
    .examples(
        &[
            "kubectl top pods",
            "kubectl config current-context",
            "kubectl rollout status deploy/x",
            "kubectl auth can-i get pods",
        ],
        &[
            "kubectl cluster-info dump --output-directory=x",
            "kubectl config use-context x",
            "kubectl config view --raw",
            "kubectl rollout restart x",
        ],
    ),
    spec(
        "kubectl oc k",
        "--for: --timeout: --all -A --all-namespaces -n: --namespace: -l: --selector: --field-selector: -o: --output: \
         --context: -f: --filename: -R --recursive --local",
    )
    .globals(KUBE_GLOBALS)
    .sub("wait")
    .asking(local_files)
    .online_but_with("--local")
    .examples(&["kubectl wait --for=condition=Ready pod/x --timeout=60s"], &["kubectl wait --x pod/y"]),
    spec(
        "kubectl oc k",
        "--dry-run:client|server -f: --filename: -o: --output: -n: --namespace: -R --recursive --image: --replicas: \
         --port: --from-literal: --from-file: --from-env-file: --tcp: --type: --target-port: --name: -l: --labels: \
         --restart: --env: --schedule: --validate? --context: --clusterrole: --role: --verb: --resource: \
         --serviceaccount: --user: --group: --server-side --rule: --class: --hard:",
    )
    .globals(KUBE_GLOBALS)
    .sub("apply|create|run|expose|autoscale")
    .asking(dry_run)
    .online(Online::Always)
    .examples(
        &[
            "kubectl apply -f x.yaml --dry-run=server",
            "kubectl create deployment x --image=nginx --dry-run=client -o yaml",
        ],
        &[
            "kubectl apply -f x.yaml",
            "kubectl apply --dry-run=none -f x",
            "kubectl apply --dry-run=client -f https://x/y",
            "kubectl run x --image=y --dry-run=client --dry-run=none",
        ],
    ),
    spec("kubectx kubens", "-c --current")
        .asking(current)
        .none()
        .examples(&["kubens -c"], &["kubectx prod", "kubectx"]),
    spec(
        "helm",
        "-a -A -n: -o: -l -q --all --all-namespaces --namespace: --output: --revision: --max: --filter: --short --date \
         --reverse --deployed --failed --pending --versions --version: --devel --kube-context: --show-resources \
         --regexp --col-width: -r",
    )
    .sub(
        "list|ls|status|get all|get values|get manifest|get notes|get hooks|get metadata|history|repo list|version|env|\
         plugin list|lint|dependency list|verify",
    )
    .online_for("list|ls|status|get|history")
    .examples(
        &["helm list -A", "helm status x -n y", "helm get values x"],
        &["helm install x y", "helm upgrade x y", "helm uninstall x", "helm list --post-renderer x", "helm template x"],
    ),
    spec(
        "helm",
        "-f: --values: --set: --set-string: --set-json: -n: --namespace: -s: --show-only: --include-crds --skip-crds \
         --no-hooks --kube-version: -a: --api-versions: --release-name --name-template: --debug --is-upgrade \
         --skip-tests --validate",
    )
    .sub("template")
    .asking(local_chart)
    .online_with("--validate")
    .examples(
        &["helm template web ./chart -f values.yaml", "helm template ."],
        &[
            "helm template x",
            "helm template ./c --post-renderer x",
            "helm template ./c --output-dir d",
            "helm template ./c -f https://x/y",
        ],
    ),
    spec(
        "stern",
        "-n: --namespace: -l: --selector: -c: --container: --since: --tail: --no-follow -o: --output: -A \
         --all-namespaces --context: --timestamps -t -i: --include: -e: --exclude: --color:",
    )
    .online(Online::Always)
    .examples(&["stern web -n x"], &["stern --kubeconfig x web"]),
    spec(
        "argocd flux istioctl eksctl",
        "-n: -o: --namespace: --output: -A --all-namespaces --cluster: --region: --name:",
    )
    .sub(
        "app list|app get|app history|app resources|cluster list|repo list|proj list|get all|get sources|\
         get kustomizations|get helmreleases|get cluster|get clusters|get nodegroup|check|proxy-status|ps|analyze|\
         version",
    )
    .online(Online::Always)
    .examples(&["argocd app list", "flux get all"], &["argocd app sync x", "eksctl delete cluster x"]),
    spec("helm", "-l -o: --output: --version: --versions --devel --regexp -r --max-col-width:")
        .sub("search repo|search hub|show chart|show values|show readme|show all")
        .elsewhere()
        .examples(
            &["helm show values bitnami/redis", "helm search repo x"],
            &["helm show chart oci://x.org/$SECRET", "helm show values x --repo y"],
        ),
    spec("k9s kubecolor minikube kind k3d", "-o: -p: -l -A -n:")
        .sub(
            "version|info|status|profile list|get clusters|get nodes|ip|cluster list|node list|addons list|\
             service list",
        )
        .examples(
            &["minikube status", "kind get clusters"],
            &["minikube delete", "kind delete cluster", "minikube ssh x"],
        ),
    spec("crictl ctr", "-a -q -o: --all --output:")
        .sub("ps|pods|info|version|inspect|inspecti|stats|image ls|containers ls")
        .examples(&["crictl ps"], &["crictl rm x"]),
    spec("skopeo", "--raw --config --format: --no-tags")
        .sub("inspect|list-tags")
        .elsewhere()
        .examples(&["skopeo inspect docker://x"], &["skopeo copy a b", "skopeo inspect docker://x.org/$SECRET"]),
    spec("crictl ctr", "-a -q -o: --all --output:")
        .sub("images")
        .none()
        .examples(&["crictl images"], &["ctr images rm x"]),
];

/// Refuses manifests from an address, which `kubectl` would fetch.
fn local_files(options: &Options<'_>) -> Result<(), String> {
    let named = |(name, value): &(smol_str::SmolStr, Option<smol_str::SmolStr>)| {
        matches!(name.as_str(), "-f" | "--filename" | "-k")
            && value.as_ref().is_none_or(|value| value.contains("://") || value.starts_optional())
    };
    if options.given.iter().any(named) { Err("a file that is fetched".into()) } else { Ok(()) }
}

fn dry_run(options: &Options<'_>) -> Result<(), String> {
    if options.has("--dry-run") { local_files(options) } else { Err("it changes the cluster".into()) }
}

/// Accepts a chart in a local directory with values in local files, so that `helm` fetches nothing.
fn local_chart(options: &Options<'_>) -> Result<(), String> {
    let fetched = options.values.iter().any(|value| value.text().contains("://"));
    match options.operands.last() {
        Some(chart) if chart.is_exact() && chart.text().starts_with(['.', '/']) && !fetched => Ok(()),
        _ => Err("a chart that is fetched".into()),
    }
}

fn not_raw(options: &Options<'_>) -> Result<(), String> {
    let dumps = options
        .operands
        .iter()
        .any(|operand| matches!(operand.text(), "dump" | "undo" | "restart" | "pause" | "resume"));
    if dumps { Err("it does not only report".into()) } else { Ok(()) }
}

fn current(options: &Options<'_>) -> Result<(), String> {
    if options.has("-c --current") { Ok(()) } else { Err("it may switch".into()) }
}
