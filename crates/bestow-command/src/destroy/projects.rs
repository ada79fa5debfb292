//! Destructive commands of project tools, which delete a database, a stack or a whole environment.

use super::{
    Rule,
    When::{Flag, Named, NoFlag},
    rule,
};

pub(super) const RULES: &[Rule] = &[
    rule("terraform tofu terragrunt terramate", "destroys infrastructure")
        .sub(
            "destroy|destroy-all|run-all destroy|apply -destroy|run destroy|run --all destroy|stack destroy|stack run \
             destroy",
        )
        .when(&[NoFlag("-help --help")])
        .examples(
            &[
                "terraform destroy",
                "terraform -chdir=infra destroy",
                "terraform destroy -auto-approve",
                "tofu destroy",
                "terragrunt run-all destroy",
                "terragrunt run --all destroy",
                "terragrunt destroy-all",
            ],
            &["terraform plan", "terraform apply", "terraform show"],
        ),
    rule("terraform tofu terragrunt", "destroys infrastructure")
        .sub("apply|run-all apply")
        .when(&[Flag("-destroy --destroy")])
        .examples(
            &["terraform apply -destroy", "terraform apply -auto-approve -destroy"],
            &["terraform apply", "terraform plan -destroy"],
        ),
    rule("terraform tofu", "forgets infrastructure")
        .sub("state rm|workspace delete|force-unlock|state push")
        .examples(&["terraform state rm x", "terraform workspace delete -force x"], &["terraform state list"]),
    rule("pulumi cdk cdktf sst sls serverless ampx copilot", "destroys infrastructure")
        .sub("destroy|down|dn|remove|stack rm|app delete|env delete|svc delete|sandbox delete")
        .examples(
            &["pulumi destroy --yes", "cdk destroy --all", "serverless remove", "pulumi stack rm x", "sst remove"],
            &["pulumi up", "cdk deploy", "cdk diff"],
        ),
    rule("sam amplify copilot", "destroys infrastructure")
        .sub("delete|app delete")
        .examples(&["sam delete", "amplify delete"], &["sam build"]),
    rule("kops eksctl kind k3d minikube", "deletes a cluster")
        .sub("delete|cluster delete|delete cluster")
        .examples(&["eksctl delete cluster x", "minikube delete", "kind delete cluster"], &["kind get clusters"]),
    rule("rails rake bin/rails", "drops the database")
        .when(&[Named("db:drop* db:reset* db:schema:load* db:purge* db:migrate:reset* db:setup* db:truncate_all*")])
        .examples(
            &["rails db:drop", "rake db:reset", "bundle exec rails db:drop:all"],
            &["rails db:migrate", "rake db:seed"],
        ),
    rule("prisma", "drops the database").when(&[Named("reset")]).examples(
        &["prisma migrate reset --force", "npx prisma migrate reset"],
        &["prisma migrate dev", "prisma generate"],
    ),
    rule("prisma", "drops the database")
        .when(&[Flag("--force-reset --accept-data-loss")])
        .examples(&["npx prisma db push --force-reset"], &["prisma db push"]),
    rule("artisan php", "drops the database")
        .when(&[Named("migrate:fresh migrate:reset migrate:refresh db:wipe")])
        .examples(&["php artisan migrate:fresh", "php artisan db:wipe"], &["php artisan migrate"]),
    rule("manage.py django-admin python python3 python2", "empties the database")
        .when(&[Named("flush reset_db"), Named("*manage.py flush reset_db")])
        .examples(
            &["python manage.py flush", "./manage.py flush --noinput", "python3 manage.py reset_db"],
            &["python manage.py migrate"],
        ),
    rule("sequelize sequelize-cli typeorm mikro-orm knex", "drops the database")
        .when(&[Named(
            "db:drop* schema:drop database:drop db:migrate:undo:all rollback:all schema:fresh migration:fresh",
        )])
        .examples(&["npx sequelize-cli db:drop", "typeorm schema:drop"], &["typeorm migration:run"]),
    rule("mix", "drops the database")
        .when(&[Named("ecto.drop ecto.reset")])
        .examples(&["mix ecto.drop", "mix ecto.reset"], &["mix ecto.migrate"]),
    rule("doctrine console bin/console", "drops the database")
        .when(&[Named("doctrine:database:drop doctrine:schema:drop")])
        .examples(&["bin/console doctrine:database:drop --force"], &["bin/console cache:clear"]),
    rule("flyway liquibase", "drops everything in the database")
        .sub("clean|dropAll|drop-all")
        .examples(&["flyway clean", "liquibase drop-all"], &["flyway info"]),
    rule("dotnet", "drops the database")
        .sub("ef database drop")
        .examples(&["dotnet ef database drop -f"], &["dotnet ef database update"]),
    rule("supabase", "resets the database")
        .sub("db reset|projects delete|branches delete|storage rm")
        .examples(&["supabase db reset", "supabase projects delete x"], &["supabase start"]),
    rule("alembic", "takes every migration back")
        .sub("downgrade base")
        .examples(&["alembic downgrade base"], &["alembic upgrade head"]),
    rule("hasura convex", "drops data")
        .when(&[Flag("--down-all")])
        .examples(&["hasura migrate apply --down-all"], &["hasura console"]),
];
